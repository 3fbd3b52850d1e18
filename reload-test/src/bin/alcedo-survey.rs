//! Reloads one plugin per crate, and records for each crate if its code can be unloaded. See the library of this package.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::survey()
}
