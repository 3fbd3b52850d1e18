//! `alcedo push`, `pull` and `follow` in a build without the feature `registry`: print the command that installs it.

use std::ffi::OsString;

/// Arguments of a command that this build lacks.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of the command.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Declares a command that this build lacks.
macro_rules! missing {
    ($name:ident, $doc:tt) => {
        pub(crate) mod $name {
            use std::process::ExitCode;

            use crate::error::Error;
            use crate::install::missing;

            #[doc = $doc]
            #[derive(Debug, clap::Args)]
            pub(crate) struct Args {
                #[command(flatten)]
                arguments: super::Arguments,
            }

            pub(crate) fn run(Args { arguments }: &Args) -> Result<ExitCode, Error> {
                let reason = "which connects to OCI registries";
                Err(missing("registry", reason, stringify!($name), &arguments.arguments))
            }
        }
    };
}

missing!(
    push,
    "Uploads a signed library to an OCI registry. This build of `alcedo` lacks it: install the feature `registry`."
);
missing!(
    pull,
    "Downloads a module from an OCI registry. This build of `alcedo` lacks it: install the feature `registry`."
);
missing!(
    follow,
    "Brings hosts to the modules of a document. This build of `alcedo` lacks it: install the feature `registry`."
);
