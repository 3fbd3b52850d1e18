//! `alcedo dev`: a session with a person at its keys. The world runs in a process of its own, so whatever becomes of it the
//! keys work. This file passes on events and commands; `told.rs` has the texts.

mod told;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use alcedo_runtime::crash_guard;

use crate::args::{Plugins, World as WorldArgs};
use crate::command::{Command, HELP, KEYS, Typed, common_start};
use crate::error::Error;
use crate::fold::Fold;
use crate::guard::Panic;
use crate::host_program::{self, Chosen};
use crate::input::Input;
use crate::modules;
use crate::modules::BuildOptions;
use crate::paint::Paint;
use crate::screen::{Screen, log_to};
use crate::scripts;
use crate::session::{Event, GLANCE, HostSources, Live, Mode, Session, Step};
use crate::world::{HostOptions, Local, News, Printed, Remote, World};
use told::{Telling, status_line};

/// What the user requested.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) plugins: Plugins,
    pub(crate) world: WorldArgs,
    /// Arguments for the main of every module.
    pub(crate) args: Vec<String>,
    /// The package of the author's host.
    pub(crate) host: Option<String>,
    /// What the host is called with.
    pub(crate) host_args: Vec<String>,
    /// A change of the host's sources restarts it.
    pub(crate) restart_host: bool,
    /// The world in this process, for a debugger.
    pub(crate) no_guard: bool,
}

/// Runs until the user quits.
pub(crate) fn run(wish: Wish) -> Result<ExitCode, Error> {
    let paint = Paint::for_stdout();
    let interactive = Input::is_interactive();
    let screen = Screen::new(interactive);
    log_to(&screen, "info", paint.is_on());
    let options = BuildOptions { release: wish.plugins.release, color: paint.is_on(), target_dir: None };
    let (mut packages, objects) = (wish.world.packages, wish.world.objects);
    let found = modules::find(&wish.plugins.dirs)?;
    if let Some(library) = found.libraries.first() {
        return Err(Error::NoSources { path: library.clone() });
    }
    found.left_out().iter().for_each(|line| screen.print(line));
    packages.extend(found.packages.iter().map(|dir| scripts::name(dir)));
    let crates = found.crate_dirs();
    let several = found.crates.iter().map(|folder| folder.plugins.len()).sum::<usize>() > 1;
    let dirs = [crates.clone(), found.packages].concat();
    let user_code = wish.world.code.absolute()?;
    let sample = HostOptions { packages, args: wish.args, objects, user_code, planted_rerun: false };
    let input = || Input::open(interactive);
    if wish.no_guard {
        if host_program::choose(wish.host.as_deref(), &crates)?.is_some() {
            screen.print(
                "the host of these plugins is left out: with --no-guard the sample engine runs, in this process",
            );
        }
        let written = Error::file("write last words into", Path::new(crash_guard::FOLDER));
        crash_guard::arm_if_supervised().map_err(written)?;
        let session = Session::open(dirs, options, Local::new(&sample)?, None)?;
        let telling = Telling::new(paint, screen.is_live(), true).of_several(several);
        return Dev::new(session, screen, telling).run(&input()?);
    }
    let chosen = host_program::choose(wish.host.as_deref(), &crates)?;
    let is_sample = chosen.is_none();
    let package = match &chosen {
        Some(Chosen::Package(package)) => Some(package.clone()),
        Some(Chosen::Program(_)) | None => None,
    };
    let program = match chosen {
        Some(host) => host.build(&options, &wish.host_args, |line| screen.print(&paint.dim(line)))?,
        None => host_program::sample(&sample)?,
    };
    let host = package.map(|package| HostSources::new(package, program.clone(), wish.restart_host));
    let session = Session::open(dirs, options, Remote::start(program, paint)?, host)?;
    let telling = Telling::new(paint, screen.is_live(), is_sample).of_several(several);
    Dev::new(session, screen, telling).run(&input()?)
}

struct Dev<W: World> {
    session: Session<W>,
    screen: Screen,
    telling: Telling,
    fold: Fold,
    /// Whether the last line of the world's came by the stream for errors.
    is_error: bool,
    begun: Instant,
    last: Option<Box<Live>>,
    /// The panic that was reported last.
    panic: Option<Panic>,
    /// What is being typed.
    typing: Option<Typed>,
    /// When the status line was made.
    looked: Option<Instant>,
    /// What ended it.
    over: Option<ExitCode>,
}

impl<W: World> Dev<W> {
    fn new(session: Session<W>, screen: Screen, telling: Telling) -> Self {
        Self {
            session,
            screen,
            telling,
            fold: Fold::default(),
            is_error: false,
            begun: Instant::now(),
            last: None,
            panic: None,
            typing: None,
            looked: None,
            over: None,
        }
    }

    fn run(mut self, input: &Input) -> Result<ExitCode, Error> {
        if self.screen.is_live() {
            self.screen.print(&self.telling.paint().dim(KEYS));
        }
        while self.step(input) {}
        self.unfold();
        self.screen.set_status(String::new());
        let screen = &self.screen;
        let left = self.session.shutdown(&mut |printed| match printed.is_error {
            true => screen.print_error(&printed.line),
            false => screen.print(&printed.line),
        });
        for what in left {
            self.screen.print(&format!("{} {what}", self.telling.paint().red("could not be ended:")));
        }
        Ok(self.over.unwrap_or(ExitCode::SUCCESS))
    }

    /// One step of the session; `false` when it is over.
    fn step(&mut self, input: &Input) -> bool {
        match self.session.wait(input.receiver()) {
            Step::Tick => {
                let lines = self.fold.due(self.begun.elapsed());
                self.print_lines(&lines);
                self.glance();
            }
            Step::Event(Event::Printed(printed)) => self.printed(&printed),
            Step::Event(Event::World(News::Completions { line, lines })) => self.go_on(input, &line, &lines),
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
        self.over.is_none()
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
            Command::Restart => self.session.restart_world(),
            Command::Line(line) => {
                self.typing = None;
                self.screen.print(&self.telling.paint().dim(&format!(": {line}")));
                self.session.world().say(&line);
            }
            Command::Complete(line) => self.session.world().complete(&line),
            Command::Trace => {
                let told = self.panic.as_ref().map(|panic| panic.told(self.telling.paint()));
                self.screen.print(&told.unwrap_or_else(|| "no plugin code has panicked so far".to_owned()));
            }
            Command::Status => {
                let line = status_line(&self.session.status(), self.last.as_deref());
                self.screen.print(&line);
            }
            Command::Help => self.screen.print(HELP),
            Command::Typing(typed) => self.typing = typed,
            // `step` sees to it.
            Command::Quit => {}
        }
    }

    fn set_mode(&mut self, mode: Mode, told: &str) {
        self.session.set_mode(mode);
        self.screen.print(told);
    }

    fn tell(&mut self, event: Event) {
        if let Event::Over { failed } = &event {
            self.over = Some(if *failed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        let running = self.session.status().running;
        // An event without a message does not end a series of equal lines.
        if let Some(text) = self.telling.told(&event, running) {
            self.unfold();
            self.screen.print(&text);
        }
        match event {
            Event::Reloaded(live) => self.last = Some(live),
            Event::World(News::Panicked(panic)) => self.panic = Some(panic),
            _ => {}
        }
    }

    /// The line goes on as far as all that it could be have in common; where that is no further, they are shown.
    fn go_on(&mut self, input: &Input, line: &str, lines: &[String]) {
        let longer = common_start(lines);
        if longer.len() > line.len() {
            self.typing = input.go_on(line, longer).or_else(|| self.typing.take());
        } else if lines.len() > 1 {
            let last = |line: &String| line.rsplit(' ').next().unwrap_or_default().to_owned();
            let words: Vec<_> = lines.iter().map(last).collect();
            self.screen.print(&self.telling.paint().dim(&words.join("   ")));
        }
        self.look();
    }

    fn printed(&mut self, printed: &Printed) {
        if printed.is_error != self.is_error {
            self.unfold();
            self.is_error = printed.is_error;
        }
        let lines = self.fold.line(&printed.line, self.begun.elapsed());
        self.print_lines(&lines);
    }

    /// Repeated events are summed up before the next one is reported.
    fn unfold(&mut self) {
        let lines = self.fold.rest();
        self.print_lines(&lines);
    }

    fn print_lines(&self, lines: &[String]) {
        for line in lines {
            match self.is_error {
                true => self.screen.print_error(line),
                false => self.screen.print(line),
            }
        }
    }

    fn glance(&mut self) {
        if self.looked.is_none_or(|at| at.elapsed() >= GLANCE) {
            self.look();
        }
    }

    fn look(&mut self) {
        if !self.screen.is_live() {
            return;
        }
        self.looked = Some(Instant::now());
        let line = match &self.typing {
            Some(Typed::Number(number)) => format!("back to generation: {number}_   (Enter goes, Esc does not)"),
            Some(Typed::Line(line)) => format!(": {line}_   (Enter asks, Tab completes, Esc gives up)"),
            None => status_line(&self.session.status(), self.last.as_deref()),
        };
        self.screen.set_status(line);
    }
}
