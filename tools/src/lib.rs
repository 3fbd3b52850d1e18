//! The `alcedo` command: `new` writes projects, `doctor` checks a folder and the machine, `build` builds sealed libraries, `keygen` creates
//! keys that sign them, `dev` keeps a world running while its plugins are edited, `demo` shows a reload with scripted edits, `repl`
//! evaluates lines in a world, `guard` reports the crash of a host, `inspect` prints the declarations of a library, `check-abi` compares
//! two builds of a library, `check` checks scripts, `glue` writes the source through which plugins use types of a library or of a host,
//! `bindgen` writes the source through which plugins call a C library, and `push`, `pull` and `follow` deliver signed libraries through OCI
//! registries.
//!
//! `dev` and `demo` share the module `session`, the loop from a saved file to live code. A session prints nothing, but returns
//! `session::Event`s, and each command prints these events in its own format.

mod args;
#[cfg(feature = "bindgen")]
mod bindgen;
mod build;
mod check;
mod check_abi;
mod command;
mod demo;
mod described;
mod dev;
mod doctor;
mod error;
mod figures;
mod fold;
mod glue;
mod guard;
mod host_program;
mod host_query;
mod input;
mod inspect;
mod install;
#[cfg(not(all(feature = "bindgen", feature = "registry")))]
mod missing;
mod modules;
mod new;
mod pace;
mod paint;
#[cfg(feature = "registry")]
mod registry;
mod reload_message;
mod repl;
mod screen;
mod scripts;
mod session;
mod timings;
mod world;

use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::{Parser, Subcommand};

#[cfg(not(feature = "bindgen"))]
use crate::missing::bindgen;
#[cfg(not(feature = "registry"))]
use crate::missing::registry;

/// Builds Alcedo plugins, and swaps their code in a running world while the objects of this world stay alive.
#[derive(Parser)]
#[command(name = "alcedo", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// The commands. Each is documented in its own file.
#[derive(Subcommand)]
enum Verb {
    New(new::Args),
    Doctor(doctor::Args),
    Build(build::Args),
    Keygen(build::Keygen),
    Inspect(inspect::Args),
    CheckAbi(check_abi::Args),
    Check(check::Args),
    Glue(glue::Args),
    Bindgen(bindgen::Args),
    Push(registry::push::Args),
    Pull(registry::pull::Args),
    Follow(registry::follow::Args),
    Dev(dev::Args),
    Repl(repl::Args),
    #[command(hide = true)]
    DevWorld(world::SampleArgs),
    Guard(guard::Args),
    Demo(demo::Args),
}

/// Runs the subcommand that the arguments of this process select. The calling thread becomes the game thread.
///
/// The exit code is 0 on success. Exit code 1 means that the command failed, that its output could not be written, that a step of the demo
/// had an unexpected result, or that a change breaks the ABI. Exit code 2 means that the arguments are invalid, or that `check-abi` cannot
/// read a file. `guard` returns the exit code of its host, and 1 if the host crashes.
pub fn run() -> ExitCode {
    alcedo_build::run_if_linker();
    let ended = match Cli::parse().verb {
        Verb::New(args) => new::run(args),
        Verb::Doctor(args) => Ok(doctor::run(&args)),
        Verb::Build(args) => build::run(&args),
        Verb::Keygen(args) => build::keygen(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::CheckAbi(args) => Ok(check_abi::run(&args)),
        Verb::Check(args) => check::run(&args),
        Verb::Glue(args) => glue::run(&args),
        Verb::Bindgen(args) => bindgen::run(&args),
        Verb::Push(args) => registry::push::run(&args),
        Verb::Pull(args) => registry::pull::run(&args),
        Verb::Follow(args) => registry::follow::run(&args),
        Verb::Dev(args) => dev::run(args),
        Verb::Repl(args) => repl::run(&args),
        Verb::DevWorld(args) => world::run_sample(args),
        Verb::Guard(args) => guard::run(&args),
        Verb::Demo(args) => demo::run(&args),
    };
    let error = match (ended, screen::output_error()) {
        (Ok(code), None) => return code,
        (Ok(_), Some(error)) => format!("could not write the output: {error}; the output is incomplete"),
        (Err(error), _) => error.to_string(),
    };
    screen::print_error(&format!("alcedo: {error}"));
    ExitCode::FAILURE
}

/// Locks a mutex, even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
