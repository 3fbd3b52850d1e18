//! What the `alcedo` command does: `build` makes sealed libraries, `dev` keeps a world running while its plugins are
//! edited, `demo` shows a reload by making the edits itself, `inspect` prints what a library declares,
//! `glue` writes the source by which plugins use that, or what a host declares; `bindgen` writes that by which they
//! call a C library.
//!
//! `session` is the loop that `dev` and `demo` share, from a saved file to live code. It decides nothing about looks:
//! it gives `session::Event`s, and `dev` and `demo` print them, each in its own way.

mod args;
mod ask;
#[cfg(feature = "bindgen")]
mod bindgen;
mod build;
mod check;
mod cli;
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
mod input;
mod inspect;
mod install;
mod modules;
mod new;
mod pace;
mod paint;
mod repl;
mod screen;
mod scripts;
mod session;
mod telling;
mod world;

use std::process::ExitCode;

/// Runs the command that this process was called with, on the calling thread, which becomes the game thread.
///
/// The code is 0 when all went well, 1 when the command failed or a step of the demo did not do what it should, and 2
/// when the arguments make no sense.
pub fn run() -> ExitCode {
    cli::run()
}
