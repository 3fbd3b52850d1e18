//! Reloads plugins repeatedly. The library of this package describes the test.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::reload_test()
}
