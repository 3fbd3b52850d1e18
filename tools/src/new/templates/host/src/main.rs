//! The host program. `alcedo dev` builds the plugins and runs this program. If the program is started directly, it loads the
//! libraries that its arguments name, or the libraries next to it.

#![forbid(unsafe_code)]

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use alcedo::{Budget, Error, Runtime, printable, sibling_libraries};
use {{host}}::Robot;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

fn main() -> ExitCode {
    // With this call, the host first loads new code in a separate process, and then in this process.
    alcedo::canary::run_if_child();
    // Logs of plugins (`tracing` and `log`) are printed here as well. `RUST_LOG=debug` prints more.
    let requested = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    let filter = requested.unwrap_or_else(|| Targets::new().with_default(Level::INFO));
    let is_terminal = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(is_terminal);
    logs.with_writer(std::io::stderr).finish().with(filter).init();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    // `development` connects this host to `alcedo dev`, which builds the plugins and selects the libraries to load. After a
    // crash or a hang the world is restored as it was a few seconds before, so this code keeps no handles of objects.
    let runtime = {{host}}::builder().development().build()?;
    runtime.create_master(&libraries()?)?;
    // Without `alcedo dev`, loads the libraries of a build in another terminal when the build is complete.
    runtime.watch_changed()?;
    let mut printed: Option<Instant> = None;
    while !runtime.shutdown_requested() {
        // Spawns robots before the tick, which runs lines of the console.
        if printed.is_none_or(|printed| printed.elapsed() > Duration::from_secs(2)) {
            printed = Some(Instant::now());
            {{host}}::populate(&runtime);
            print_positions(&runtime)?;
        }
        // Runs the code of plugins, and reloads.
        runtime.tick(Budget::frame());
        for report in runtime.take_reloads() {
            eprintln!("{}", printable(&report.to_string()));
        }
        // A server without work of its own would call `runtime.wait(timeout)` here.
        std::thread::sleep(Duration::from_millis(16));
    }
    runtime.shutdown().into_result()
}

/// Prints the positions of the robots.
fn print_positions(runtime: &Runtime) -> Result<(), Error> {
    let objects = runtime.objects();
    for robot in objects.iter().filter_map(|object| objects.cast::<Robot>(object)) {
        objects.with(robot, |robot| println!("{} is at {:.2}", robot.name(), robot.position()))?;
    }
    Ok(())
}

/// Returns the libraries that the command line names, or else the libraries in the folder of this program.
fn libraries() -> Result<Vec<PathBuf>, Error> {
    let named: Result<Vec<_>, _> = std::env::args_os().skip(1).map(std::path::absolute).collect();
    let named = named.map_err(|source| Error::System { doing: "finding the working folder".into(), source })?;
    if !named.is_empty() {
        return Ok(named);
    }
    // Omits libraries of plugins that were removed from the workspace.
    Ok(sibling_libraries(&std::env::current_exe().unwrap_or_default()))
}
