//! Reloads a plugin per crate, and writes down which crates let go; see the library beside it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::survey()
}
