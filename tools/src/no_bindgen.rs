//! `alcedo bindgen` in a build without the feature `bindgen`: prints the command that installs it.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::bail;

use crate::error::Error;
use crate::install::installing;

/// Writes the Rust source through which plugins call a C library. This build of `alcedo` lacks it: install the feature `bindgen`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Arguments of the command.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(Args { arguments }: &Args) -> Result<ExitCode, Error> {
    let arguments: String = arguments.iter().map(|argument| format!(" {}", argument.display())).collect();
    bail!(
        "this build of `alcedo` is without the feature `bindgen`, which reads C headers by libclang: {}, then `alcedo bindgen{arguments}` \
         again",
        installing(&["bindgen"])
    )
}
