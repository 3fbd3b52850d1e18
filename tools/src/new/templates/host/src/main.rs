//! The program. `alcedo dev` builds the plugins and runs it; alone it loads the libraries it is given, or those beside it.

#![forbid(unsafe_code)]

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, Error, Runtime, printable, sibling_libraries};
use {{host}}::Robot;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

fn main() -> ExitCode {
    // From here on new code is tried in a process of its own before it gets into this one.
    alcedo_runtime::canary::run_if_child();
    // What plugins say with `tracing` and `log` comes here as well. `RUST_LOG=debug` shows more.
    let asked_for = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    let shown = asked_for.unwrap_or_else(|| Targets::new().with_default(Level::INFO));
    let is_terminal = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(is_terminal);
    logs.with_writer(std::io::stderr).finish().with(shown).init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    // `development` is this host's part in `alcedo dev`: that builds the plugins then, and says what is loaded. After a crash
    // or a hang the world is as it was a few seconds before, so nothing here keeps handles of objects.
    let runtime = {{host}}::builder().development().build()?;
    runtime.create_master(&libraries()?)?;
    // Without that tool, a build in another terminal is loaded when it is whole.
    runtime.watch_changed()?;
    let mut told: Option<Instant> = None;
    while !runtime.is_asked_to_end() {
        // What plugins do happens in here, and so does a reload.
        runtime.tick(Budget::frame());
        for report in runtime.take_reloads() {
            eprintln!("{}", printable(&report.to_string()));
        }
        if told.is_none_or(|told| told.elapsed() > Duration::from_secs(2)) {
            told = Some(Instant::now());
            {{host}}::populate(&runtime)?;
            tell(&runtime)?;
        }
        // A server has nothing to do by itself: it would call `runtime.wait(timeout)` here.
        std::thread::sleep(Duration::from_millis(16));
    }
    runtime.shutdown().into_result()
}

/// Where the robots are.
fn tell(runtime: &Runtime) -> Result<(), Error> {
    let objects = runtime.objects();
    for robot in objects.all().into_iter().filter_map(|object| objects.as_a::<Robot>(object)) {
        objects.with(robot, |robot| println!("{} is at {:.2}", robot.name(), robot.position()))?;
    }
    Ok(())
}

/// Returns the libraries of the command line, relative to the working folder, or those in the folder of this program.
fn libraries() -> Result<Vec<PathBuf>, Error> {
    let named: Result<Vec<_>, _> = std::env::args_os().skip(1).map(std::path::absolute).collect();
    let named = named.map_err(|source| Error::System { doing: "finding the working folder".into(), source })?;
    if !named.is_empty() {
        return Ok(named);
    }
    // Leaves out libraries of plugins that were removed from the workspace.
    Ok(sibling_libraries(&std::env::current_exe().unwrap_or_default()))
}
