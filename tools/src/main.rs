//! The `alcedo` program. All code is in the library, so that tests can call it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    alcedo_runtime::canary::run_if_child();
    alcedo_tools::run()
}
