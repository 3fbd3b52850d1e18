//! Reloads plugins again and again; see the library beside it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_reload_test::reload_test()
}
