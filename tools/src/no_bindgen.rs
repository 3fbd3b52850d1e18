//! `alcedo bindgen` in a build without the feature `bindgen`: prints the command that installs it.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::error::Error;
use crate::install::missing;

/// Writes the Rust source through which plugins call a C library. This build of `alcedo` lacks it: install the feature `bindgen`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Arguments of the command.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(Args { arguments }: &Args) -> Result<ExitCode, Error> {
    Err(missing("bindgen", "which reads C headers by libclang", "bindgen", arguments))
}
