//! Tests of both programs as a user runs them, one module per file. Each file has its own process: see
//! `runtime/tests/support/apart.rs`.

#[path = "../../runtime/tests/support/apart.rs"]
mod apart;

use std::process::Command;

const PREPARE: fn() = || ();

mod reloading;
mod surveying;

/// Command of one of the programs. Builds plugins in the folder and profile of all tests, so that their dependencies are compiled
/// once.
fn program(path: &str) -> Command {
    let mut program = Command::new(path);
    program.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/plugins"));
    program.envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")]);
    program
}
