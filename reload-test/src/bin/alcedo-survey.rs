//! Reloads plugins that use crates of crates.io, and records if the plugins can be unloaded. `alcedo_reload_test::survey` implements this
//! program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::survey()
}
