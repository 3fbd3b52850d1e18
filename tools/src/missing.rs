//! The commands that a build without an optional feature lacks: `alcedo bindgen`, `push`, `pull` and `follow`. In such a build, each of
//! these commands prints the shell command that installs `alcedo` with the feature.

/// Declares commands that this build lacks. The documentation is matched as `tt`, because `clap` does not recognize a literal that a macro
/// has matched as an expression.
macro_rules! missing {
    ($feature:literal, $reason:literal, $($name:ident: $doc:tt,)*) => {
        $(pub(crate) mod $name {
            use std::ffi::OsString;
            use std::process::ExitCode;

            use anyhow::bail;

            use crate::error::Error;
            use crate::install::installing;

            #[doc = $doc]
            #[derive(Debug, clap::Args)]
            pub(crate) struct Args {
                /// Arguments of the command.
                #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
                arguments: Vec<OsString>,
            }

            pub(crate) fn run(Args { arguments }: &Args) -> Result<ExitCode, Error> {
                let arguments: String = arguments.iter().map(|argument| format!(" {}", argument.display())).collect();
                bail!(
                    "this build of `alcedo` lacks the feature `{}`, {}: {}, then `alcedo {}{arguments}` again",
                    $feature,
                    $reason,
                    installing(&[$feature]),
                    stringify!($name)
                )
            }
        })*
    };
}

#[cfg(not(feature = "bindgen"))]
missing!(
    "bindgen",
    "which reads C headers by libclang",
    bindgen:
        "Writes the Rust source through which plugins call a C library. This build of `alcedo` lacks it: install the feature `bindgen`.",
);

#[cfg(not(feature = "registry"))]
pub(crate) mod registry {
    missing!(
        "registry",
        "which connects to OCI registries",
        push: "Uploads a signed library to an OCI registry. This build of `alcedo` lacks it: install the feature `registry`.",
        pull: "Downloads a module from an OCI registry. This build of `alcedo` lacks it: install the feature `registry`.",
        follow: "Brings hosts to the modules of a document. This build of `alcedo` lacks it: install the feature `registry`.",
    );
}
