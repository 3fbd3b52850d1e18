//! `alcedo dev`: an interactive session. The world runs in a separate process, so the keys work even if the world crashes or hangs. This
//! file dispatches events and commands. The submodules format events as human-readable text and as JSON.

mod json;
mod messages;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use alcedo_build::BuildError;
use alcedo_runtime::crash_guard;
use alcedo_runtime::development::link::{FromHost, ToHost};
use anyhow::bail;
use rustyline::completion::longest_common_prefix;
use serde_json::json;

use crate::args::{Plugins, World as WorldArgs};
use crate::command::{Command, HELP, KEYS, Typed};
use crate::error::{Error, file};
use crate::fold::{Fold, Folded};
use crate::host_program::{self, Chosen};
use crate::input::Input;
use crate::modules;
use crate::modules::BuildOptions;
use crate::paint::Paint;
use crate::screen::{Screen, log_to};
use crate::scripts;
use crate::session::{Event, GLANCE, HostSources, Live, Mode, Session, Sources, Step};
use crate::world::{HostOptions, Local, Printed, Remote, Shutdown, World, WorldEvent};
use messages::{Messages, status_line};

/// Builds plugins, runs them in a world, and swaps their code whenever a source file is saved.
///
/// A folder of `.uc` files is a package of scripts with the name of the folder: it is checked and loaded together with the plugins,
/// and reloaded when a file of it is saved. Packages below a folder of plugins are found.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    plugins: Plugins,
    #[command(flatten)]
    world: WorldArgs,
    /// An argument for the main of every module; may be repeated.
    #[arg(long = "arg", value_name = "TEXT", allow_hyphen_values = true)]
    args: Vec<String>,
    /// The author's own host instead of the sample engine: a package, a folder, or an existing program.
    ///
    /// The default is `host = "…"` in `[package.metadata.alcedo]` or `[workspace.metadata.alcedo]` of the plugins; of
    /// several folders, the first with such a line counts. The host needs the line `.development()` in its builder.
    #[arg(long, value_name = "PACKAGE|PATH")]
    host: Option<String>,
    /// An argument for the host; may be repeated.
    #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true)]
    host_args: Vec<String>,
    /// Build and restart the host whenever its sources change, with the saved world; without this option, the key k does so.
    #[arg(long)]
    restart_host: bool,
    /// Run the sample world in this process, for a debugger; a crash or a hang of a plugin then ends the session.
    ///
    /// Usually the world has its own process, and the location of a crash or a hang is reported. After a crash, or on the next save after a
    /// hang, the world restarts with the last good build and its objects as they were a few seconds earlier.
    #[arg(long, conflicts_with_all = ["host", "host_args", "restart_host"])]
    no_guard: bool,
    /// Print each event as a JSON object on a separate line, for editors and other programs. Commands are lines, as on a pipe.
    #[arg(long)]
    json: bool,
    /// Print the phases between a save and live code, with their times: build, stage, canary, and the steps of the swap.
    #[arg(long)]
    timings: bool,
}

/// Runs until the user quits. With `--json`, prints an error that ends the session before its first step as events.
pub(crate) fn run(args: Args) -> Result<ExitCode, Error> {
    let is_json = args.json;
    start(args).or_else(|error| {
        if !is_json {
            return Err(error);
        }
        let event = match error.downcast::<BuildError>() {
            Ok(BuildError::Canceled { .. }) => Event::Canceled,
            Ok(error) => Event::NotBuilt(error),
            Err(error) => Event::Failed { error: error.to_string() },
        };
        json::event(&event).iter().for_each(|event| Screen::Json.event(event));
        print_end(&Screen::Json, &[]);
        Ok(ExitCode::FAILURE)
    })
}

fn start(args: Args) -> Result<ExitCode, Error> {
    let paint = if args.json { Paint::off() } else { Paint::for_stdout() };
    let interactive = Input::is_interactive() && !args.json;
    let screen = if args.json { Screen::Json } else { Screen::new(interactive) };
    log_to(&screen, "info", paint.is_on());
    let builder = modules::session_builder();
    let options = BuildOptions { release: args.plugins.release, color: paint.is_on(), target_dir: None, builder };
    let of_sample: Vec<_> = args.world.options().into_iter().chain([("--arg", !args.args.is_empty())]).collect();
    let of_host = [("--host-arg", !args.host_args.is_empty()), ("--restart-host", args.restart_host)];
    let (mut packages, objects) = (args.world.packages, args.world.objects.unwrap_or(WorldArgs::OBJECTS));
    let found = modules::find(&args.plugins.dirs)?;
    if let Some(library) = found.libraries.first() {
        bail!(
            "{} is a built library, and `alcedo dev` builds what it runs: name the folder of its crate",
            library.display()
        );
    }
    found.left_out().iter().for_each(|line| screen.print(line));
    packages.extend(scripts::valid_names(&found.packages));
    let several = found.crates.iter().map(|folder| folder.plugins.len()).sum::<usize>() > 1;
    let (dirs, host_dirs) = ([found.crate_dirs(), found.packages].concat(), found.host_dirs);
    let user_code = args.world.code.absolute()?;
    let sample = HostOptions { packages, args: args.args, objects, user_code, planted_rerun: false };
    let (is_live, timings) = (screen.is_live(), args.timings);
    let messages = |is_sample| Messages { several, timings, ..Messages::new(paint, is_live, is_sample) };
    let chosen = host_program::choose(args.host.as_deref(), &host_dirs)?;
    host_program::check_options(chosen.as_ref().filter(|_| !args.no_guard), &of_sample, &of_host)?;
    if args.no_guard {
        if chosen.is_some() {
            screen.print(
                "the host of these plugins is left out: with --no-guard the sample engine runs, in this process",
            );
        }
        let written = file("write last words into", Path::new(crash_guard::FOLDER));
        crash_guard::arm_if_supervised().map_err(written)?;
        let input = Input::signals()?;
        let session = Session::open(Sources::watch(dirs, None)?, options, Local::new(&sample)?, None)?;
        return Dev::new(session, screen, messages(true)).run(input);
    }
    let is_sample = chosen.is_none();
    let package = match &chosen {
        Some(Chosen::Package(package)) => Some(package.clone()),
        Some(Chosen::Program(program)) if args.restart_host => bail!(
            "cannot use --restart-host with the program {}, because its sources are unknown: name its package with --host",
            program.display()
        ),
        Some(Chosen::Program(_)) | None => None,
    };
    // Watches the sources before the first build of the host, because the built program may lack an edit that was saved during the build.
    let sources = Sources::watch(dirs, package.as_ref())?;
    let program = match chosen {
        Some(host) => host.build(&options, &args.host_args, |line| screen.print(&paint.dim(line)))?,
        None => host_program::sample(&sample)?,
    };
    let input = Input::signals()?;
    let host = package.map(|package| HostSources::new(package, program.clone(), args.restart_host));
    let session = Session::open(sources, options, Remote::start(program, paint)?, host)?;
    Dev::new(session, screen, messages(is_sample)).run(input)
}

struct Dev<W: World> {
    session: Session<W>,
    screen: Screen,
    messages: Messages,
    fold: Fold,
    /// Set if the world printed its last line to standard error.
    is_error: bool,
    begun: Instant,
    last: Option<Box<Live>>,
    /// Frames of the last panic or crash, one per line.
    trace: Option<String>,
    /// Time of the last status line.
    refreshed: Option<Instant>,
    /// Exit code of the command. `None` while the session runs.
    over: Option<ExitCode>,
}

impl<W: World> Dev<W> {
    fn new(session: Session<W>, screen: Screen, messages: Messages) -> Self {
        Self {
            session,
            screen,
            messages,
            fold: Fold::default(),
            is_error: false,
            begun: Instant::now(),
            last: None,
            trace: None,
            refreshed: None,
            over: None,
        }
    }

    fn run(mut self, input: Input) -> Result<ExitCode, Error> {
        // Reads input only after the first build of the host. Commands on a pipe then run after this build, and cargo prints its errors
        // before the terminal enters raw mode.
        let input = input.read(self.screen.is_live())?;
        self.screen.open();
        if self.screen.is_live() {
            self.screen.print(&self.messages.paint.dim(KEYS));
        }
        while self.step(&input) {}
        self.unfold();
        self.screen.set_status("");
        let Self { session, screen, mut messages, over, .. } = self;
        let Shutdown { left, crash } = session
            .shutdown(&mut |printed| print_output(&screen, &Folded::Line(printed.line.clone()), printed.is_error));
        for what in &left {
            screen.print(&format!("{} {what}", messages.paint.red("could not be ended:")));
        }
        let crash = crash.map(Event::WorldEnded);
        if let Some(event) = &crash {
            match json::event(event).filter(|_| screen.is_json()) {
                Some(object) => screen.event(&object),
                None => messages.message(event, false).iter().for_each(|text| screen.print(text)),
            }
        }
        print_end(&screen, &left);
        screen.close();
        Ok(over.unwrap_or(if crash.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }))
    }

    /// Runs one step of the session. Returns `false` at the end of the session.
    fn step(&mut self, input: &Input) -> bool {
        match self.session.wait(&input.receiver) {
            Step::Tick => {
                let lines = self.fold.due(self.begun.elapsed());
                self.print_lines(&lines);
                self.screen.refresh();
                if self.refreshed.is_none_or(|at| at.elapsed() >= GLANCE) {
                    self.refresh_status(input);
                }
            }
            Step::Event(Event::Printed(printed)) => self.printed(&printed),
            Step::Event(Event::World(WorldEvent::Host(FromHost::Completions { line, lines }, _))) => {
                self.extend_line(input, &line, &lines);
            }
            Step::Event(event) => {
                self.report(event);
                self.refresh_status(input);
            }
            Step::Command(Ok(Command::Quit)) => return false,
            Step::Command(Ok(command)) => {
                self.obey(command);
                self.refresh_status(input);
            }
            Step::Command(Err(error)) => self.screen.print(&error),
        }
        self.over.is_none()
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Reload => self.session.reload_by_hand(),
            Command::Automatic => self.set_mode(Mode::Automatic, "automatic: sources are built when they are saved"),
            Command::Paused => self.set_mode(Mode::Paused, "paused: r reloads once, a resumes"),
            Command::Back(generation) => self.session.back(generation),
            Command::Restart => self.session.restart_world(),
            Command::Line(line) => {
                self.screen.print(&self.messages.paint.dim(&format!(": {line}")));
                self.session.world.request(ToHost::Line { line });
            }
            Command::Complete(line) => self.session.world.request(ToHost::Complete { line }),
            Command::Trace => {
                self.screen.print(self.trace.as_deref().unwrap_or("no trace of a panic or crash has arrived so far"));
            }
            Command::Output if self.screen.has_pane() => self.screen.print_output(),
            Command::Output => self.screen.print("all output is printed above"),
            Command::Status if self.screen.is_json() => {
                let status = self.session.status();
                self.screen.event(&json!({ "event": "status", "status": status }));
            }
            Command::Status => {
                let line = status_line(&self.session.status(), self.last.as_deref());
                self.screen.print(&line);
            }
            Command::Help => self.screen.print(HELP),
            // `step` handles these commands.
            Command::Typing | Command::Quit => {}
        }
    }

    fn set_mode(&mut self, mode: Mode, message: &str) {
        self.session.set_mode(mode);
        self.screen.print(message);
    }

    fn report(&mut self, event: Event) {
        if let Event::Over { failed } = &event {
            self.over = Some(if *failed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        let running = self.session.status().running;
        // Prints the summary of repeated lines only before an event with a message. Other events do not interrupt the series of lines.
        if self.screen.is_json() {
            if let Some(object) = json::event(&event) {
                self.unfold();
                self.screen.event(&object);
            }
        } else if let Some(text) = self.messages.message(&event, running) {
            self.unfold();
            self.screen.print(&text);
        }
        match event {
            Event::Reloaded(live) => self.last = Some(live),
            Event::World(WorldEvent::Panicked(panic)) => self.trace = Some(panic.report(self.messages.paint)),
            Event::WorldEnded(end) => {
                self.trace = Some(end.report(self.messages.paint));
                self.last = None;
            }
            Event::HangEnded | Event::Stopped => self.last = None,
            _ => {}
        }
    }

    /// Extends the typed line to the common prefix of its completions. If this prefix is not longer than the line, prints the completions,
    /// unless only one exists.
    fn extend_line(&mut self, input: &Input, line: &str, lines: &[String]) {
        let longer = longest_common_prefix(lines).unwrap_or_default();
        if longer.len() > line.len() {
            input.keys().extend_line(line, longer);
        } else if lines.len() > 1 {
            let last = |line: &String| line.rsplit(' ').next().unwrap_or_default().to_owned();
            let candidates: Vec<_> = lines.iter().map(last).collect();
            self.screen.print(&self.messages.paint.dim(&candidates.join("   ")));
        }
        self.refresh_status(input);
    }

    fn printed(&mut self, printed: &Printed) {
        if self.screen.has_pane() {
            return self.screen.output(&printed.line);
        }
        if printed.is_error != self.is_error {
            self.unfold();
            self.is_error = printed.is_error;
        }
        let lines = self.fold.line(&printed.line, self.begun.elapsed());
        self.print_lines(&lines);
    }

    /// Prints the summary of repeated lines, so that it precedes the next message.
    fn unfold(&mut self) {
        let lines = self.fold.rest();
        self.print_lines(&lines);
    }

    fn print_lines(&self, lines: &[Folded]) {
        lines.iter().for_each(|line| print_output(&self.screen, line, self.is_error));
    }

    fn refresh_status(&mut self, input: &Input) {
        if !self.screen.is_live() {
            return;
        }
        self.refreshed = Some(Instant::now());
        let typing = |text: &str, hint: &str| format!("{}   ({hint}, Esc cancels)", self.screen.last_columns(text));
        let typed = input.keys().typed.clone();
        let line = match typed {
            Some(Typed::Number(number)) => typing(&format!("back to generation: {number}_"), "Enter confirms"),
            Some(Typed::Line(line)) => typing(&format!(": {line}_"), "Enter sends, Tab completes"),
            None => status_line(&self.session.status(), self.last.as_deref()),
        };
        self.screen.set_status(&line);
    }
}

/// Prints the last event of a session if the output is JSON.
fn print_end(screen: &Screen, left: &[String]) {
    screen.event(&json!({ "event": "end", "left": left }));
}

/// Prints a line of the world's output, or a summary of repeated lines.
fn print_output(screen: &Screen, folded: &Folded, is_error: bool) {
    match folded {
        _ if screen.is_json() => screen.event(&json::output(folded, is_error)),
        Folded::Line(line) if screen.has_pane() => screen.output(line),
        _ if is_error => screen.print_error(&folded.text()),
        _ => screen.print(&folded.text()),
    }
}
