//! `alcedo dev`: a session, with a person at its keys. This file says what happens and passes on what is wanted.

use std::path::Path;
use std::process::{self, ExitCode};
use std::time::{Duration, Instant};

use alcedo_runtime::crash_guard;

use crate::cli::{Plugins, World};
use crate::command::{Command, HELP, KEYS};
use crate::error::Error;
use crate::guard::again::{self, Again, Life};
use crate::guard::{End, Guard, code};
use crate::input::Input;
use crate::paint::Paint;
use crate::screen::{Screen, log_to};
use crate::session::{Beginning, BuildOptions, Event, HostOptions, Live, Mode, Session, Status, Step};
use crate::telling::{self, millis, number};

/// The status line is read by a person, so it need not change more often than this.
const GLANCE: Duration = Duration::from_millis(200);

/// Looks after a session in a process of its own, and begins another when that crashes, until somebody quits.
pub(crate) fn guarded() -> Result<ExitCode, Error> {
    let guard = Guard::new()?;
    let (screen, paint) = (Screen::new(false), Paint::for_stdout());
    let builds = guard.dir().join("builds");
    std::fs::create_dir_all(&builds).map_err(Error::file("create", &builds))?;
    let program = std::env::current_exe().map_err(Error::file("find", Path::new("alcedo")))?;
    let mut again = None;
    loop {
        let mut command = process::Command::new(&program);
        // The words of this call, with ours behind the first.
        command.args(std::env::args_os().skip(1).take(1)).arg("--builds").arg(&builds);
        command.args(again.map(|build: Option<u64>| match build {
            Some(build) => format!("--after-crash={build}"),
            None => "--after-crash=none".to_owned(),
        }));
        command.args(std::env::args_os().skip(2));
        let crash = match guard.watch(command)? {
            End::Ordered(status) => return Ok(code(status)),
            End::Crashed(crash) => crash,
        };
        screen.print(&crash.told(paint));
        again::note(&builds, Life::Crashed);
        again = match again::after_crash(&builds) {
            Again::With(build) => Some(Some(build)),
            Again::Waiting => Some(None),
            Again::No => return Ok(ExitCode::FAILURE),
        };
    }
}

/// Runs until somebody quits.
pub(crate) fn run(plugins: Plugins, world: World, args: Vec<String>, beginning: &Beginning) -> Result<ExitCode, Error> {
    if beginning.builds.is_some() {
        // Who looks after us may be ended by force; nobody would know of this process then.
        let _asked = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    }
    crash_guard::arm_if_supervised().map_err(Error::file("write last words into", Path::new(crash_guard::FOLDER)))?;
    let paint = Paint::for_stdout();
    let interactive = Input::is_interactive();
    let screen = Screen::new(interactive);
    log_to(&screen, "info", paint.is_on());
    let options = BuildOptions { release: plugins.release, color: paint.is_on(), target_dir: None };
    let host = HostOptions { packages: world.packages, args, objects: world.objects };
    let session = Session::open(plugins.dirs, options, &host, beginning)?;
    let input = Input::open(interactive)?;
    if interactive {
        screen.print(&paint.dim(KEYS));
    }
    let mut dev = Dev { session, screen, paint, last: None, typing: None, looked: None };
    while dev.step(&input) {}
    dev.screen.set_status(String::new());
    let left = dev.session.shutdown();
    for what in &left {
        dev.screen.print(&format!("{} {what}", paint.red("could not be ended:")));
    }
    drop(input);
    Ok(ExitCode::SUCCESS)
}

struct Dev {
    session: Session,
    screen: Screen,
    paint: Paint,
    last: Option<Box<Live>>,
    /// The number after `b`, while it is typed.
    typing: Option<String>,
    /// When the status line was made.
    looked: Option<Instant>,
}

impl Dev {
    /// One step of the session; `false` when somebody wants to quit.
    fn step(&mut self, input: &Input) -> bool {
        match self.session.wait(input.receiver()) {
            Step::Tick => self.glance(),
            Step::Event(event) => {
                self.tell(event);
                self.look();
            }
            Step::Heard(Ok(Command::Quit)) => return false,
            Step::Heard(Ok(command)) => {
                self.obey(command);
                self.look();
            }
            Step::Heard(Err(error)) => self.screen.print(&error.to_string()),
        }
        true
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Reload => self.session.reload_by_hand(),
            Command::Automatic => self.set_mode(Mode::Automatic, "automatic: sources are built when they are saved"),
            Command::Paused => self.set_mode(Mode::Paused, "paused: r reloads once, a goes on"),
            Command::Back(generation) => {
                self.typing = None;
                self.session.back(generation);
            }
            Command::Status => {
                let line = status_line(&self.session.status(), self.last.as_deref());
                self.screen.print(&line);
            }
            Command::Help => self.screen.print(HELP),
            Command::Typing(number) => self.typing = number,
            // `step` sees to it.
            Command::Quit => {}
        }
    }

    fn set_mode(&mut self, mode: Mode, told: &str) {
        self.session.set_mode(mode);
        self.screen.print(told);
    }

    fn tell(&mut self, event: Event) {
        let running = self.session.status().running;
        if let Some(text) = told(&event, running, self.paint, self.screen.is_live()) {
            self.screen.print(&text);
        }
        if let Event::Reloaded(live) = event {
            self.last = Some(live);
        }
    }

    fn glance(&mut self) {
        if self.screen.is_live() && self.looked.is_none_or(|at| at.elapsed() >= GLANCE) {
            self.look();
        }
    }

    fn look(&mut self) {
        if !self.screen.is_live() {
            return;
        }
        self.looked = Some(Instant::now());
        let line = match &self.typing {
            Some(number) => format!("back to generation: {number}_   (Enter goes, Esc does not)"),
            None => status_line(&self.session.status(), self.last.as_deref()),
        };
        self.screen.set_status(line);
    }
}

/// How things are, in one line.
fn status_line(status: &Status, last: Option<&Live>) -> String {
    let mut words = match status.running {
        true => vec![format!("generation {}", status.generation)],
        false => vec!["no generation yet".to_owned()],
    };
    words.push(format!("{} objects", number(u64::try_from(status.objects).unwrap_or(u64::MAX))));
    words.push(format!("{} ticks/s", status.ticks));
    words.push(if status.mode == Mode::Automatic { "automatic" } else { "paused" }.to_owned());
    words.extend(status.building.then(|| "building".to_owned()));
    words.extend(last.map(|live| format!("last: {}", telling::last(live))));
    words.join(" · ")
}

/// What a person is told of an event. A live screen shows in its status line that a build runs; a pipe has only lines.
fn told(event: &Event, running: bool, paint: Paint, live: bool) -> Option<String> {
    let goes_on = if running { "the old code keeps running" } else { "nothing runs yet" };
    let names = |paths: &[std::path::PathBuf]| {
        let names: Vec<_> = paths.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        names.join(", ")
    };
    let text = match event {
        Event::Building(_) | Event::Canceled if live => return None,
        Event::Building(changed) if changed.is_empty() => "building".to_owned(),
        Event::Building(changed) => format!("building, because {} changed", names(changed)),
        Event::Canceled => "the sources changed again: the build that ran is canceled".to_owned(),
        Event::Built { warnings, .. } if warnings.is_empty() => return None,
        Event::Built { warnings, .. } => warnings.trim_end().to_owned(),
        Event::NotBuilt(error) => format!("{error}\n{}", paint.red(goes_on)),
        Event::Unchanged => "saved, but the library is as it was".to_owned(),
        Event::Noted(changed) => format!("{} changed (paused: r reloads once, a goes on)", names(changed)),
        Event::Started { generation, build_ms } => {
            let head = paint.bold(&format!("generation {generation} is live"));
            format!("{head}   built in {}", millis(*build_ms))
        }
        Event::Restarted(Some(generation)) => {
            let head = paint.bold(&format!("generation {generation} is live"));
            format!("{head}   the last build that did not crash · save to build again")
        }
        Event::Restarted(None) => "no build is left that did not crash · save to build again".to_owned(),
        Event::NotStarted(error) => format!("{} {error}\n{goes_on} · save again to retry", paint.red("not loaded:")),
        Event::Reloaded(live) => telling::reload(live, paint),
        Event::Populated(population) => telling::population(population, paint),
        Event::Failed(error) => format!("{} {error}", paint.red("failed:")),
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use alcedo_build::BuildError;
    use alcedo_runtime::Outcome;

    use super::{status_line, told};
    use crate::paint::Paint;
    use crate::session::{Event, Mode, Status};
    use crate::telling::tests::live;

    #[test]
    fn the_status_is_one_line() {
        let mut status =
            Status { generation: 4, objects: 2001, ticks: 60, mode: Mode::Automatic, building: true, running: true };
        assert_eq!(
            status_line(&status, Some(&live(Outcome::Committed))),
            "generation 4 · 2,001 objects · 60 ticks/s · automatic · building · last: 3 → 4 live after 131 ms"
        );
        (status.mode, status.building, status.running) = (Mode::Paused, false, false);
        assert_eq!(status_line(&status, None), "no generation yet · 2,001 objects · 60 ticks/s · paused");
    }

    #[test]
    fn a_compile_error_is_shown_once_in_the_compilers_words_and_the_old_code_keeps_running() {
        let event = Event::NotBuilt(BuildError::DoesNotCompile {
            rendered: "error: a\n --> src/lib.rs:1:1\n".into(),
            command: "cargo build".into(),
        });
        let text = told(&event, true, Paint::for_tests(), false).unwrap();
        assert_eq!(text.matches("error: a\n --> src/lib.rs:1:1\n").count(), 1, "{text}");
        assert!(text.ends_with("the old code keeps running"), "{text}");
        assert!(told(&event, false, Paint::for_tests(), false).unwrap().ends_with("nothing runs yet"));
    }

    #[test]
    fn a_pipe_is_told_of_builds_in_lines_and_a_terminal_in_its_status() {
        let building = Event::Building(vec![PathBuf::from("/p/src/lib.rs")]);
        let paint = Paint::for_tests();
        assert_eq!(told(&building, true, paint, false).unwrap(), "building, because lib.rs changed");
        assert_eq!(told(&building, true, paint, true), None);
        assert_eq!(told(&Event::Built { millis: 1.0, warnings: String::new() }, true, paint, false), None);
    }
}
