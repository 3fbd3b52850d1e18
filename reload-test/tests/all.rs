//! Tests both programs as a user runs them, one module per file. Each file has its own process: see `runtime/tests/support/apart.rs`.

#[path = "../../runtime/tests/support/apart.rs"]
mod apart;

use std::process::Command;

const PREPARE: fn() -> apart::Variables = Vec::new;

/// Most tests wait for builds and programs, so each processor can run more than one file.
const FILES_PER_PROCESSOR: usize = 2;

const WAITING: &[&str] = &[];

const FIRST: &[&str] = &[];

mod reloading;
mod surveying;

/// Returns the command of one of the programs. All tests build plugins in the same folder, so that dependencies are compiled once.
fn program(path: &str) -> Command {
    let mut program = Command::new(path);
    program.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/plugins"));
    program
}
