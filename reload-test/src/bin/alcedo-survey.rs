//! Reloads one plugin per crate, and records for each crate if its code can be unloaded. The library of this package contains the code.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::survey()
}
