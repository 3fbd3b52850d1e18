//! Reloads plugins repeatedly; see the library of this package.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::reload_test()
}
