//! Command-line arguments that several commands share.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, file};

/// Plugins of a command, and their build profile.
#[derive(Args, Debug)]
pub(crate) struct Plugins {
    /// Folders of plugin crates, or of workspaces that contain plugin crates.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Build with the release profile.
    #[arg(long)]
    pub(crate) release: bool,
}

/// Contents of the development host.
#[derive(Args, Debug)]
pub(crate) struct World {
    /// Number of objects of each actor class that the plugins declare. Default: 10, and 1 in `repl`.
    #[arg(long, value_name = "N")]
    pub(crate) objects: Option<u64>,
    /// A package that plugins may declare types in, besides `Game`; may be repeated.
    #[arg(long = "package", value_name = "NAME")]
    pub(crate) packages: Vec<String>,
    #[command(flatten)]
    pub(crate) code: Code,
}

impl World {
    /// Default number of objects of each actor class.
    pub(crate) const OBJECTS: u64 = 10;

    /// Returns the options, each with `true` if the command line contains the option.
    pub(crate) fn options(&self) -> [(&'static str, bool); 3] {
        [
            ("--objects", self.objects.is_some()),
            ("--package", !self.packages.is_empty()),
            ("--user-code", self.code.user_code.is_some()),
        ]
    }
}

/// The user's own host, which is started and reports its types.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct HostArgs {
    /// Your own host, instead of the sample engine: a package, a folder, or a built program.
    #[arg(long, value_name = "PACKAGE|PATH")]
    pub(crate) host: Option<String>,
    /// An argument for the host; may be repeated.
    #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) host_args: Vec<String>,
}

/// Default time in seconds within which a host must respond.
pub(crate) const PATIENCE: u64 = 20;

/// C libraries of the sample engine.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Code {
    /// The folder with the C libraries of classes with `DLLBind` and `dll_bind`. The functions of these libraries run in this process with
    /// all its rights.
    #[arg(long = "user-code", value_name = "FOLDER")]
    pub(crate) user_code: Option<PathBuf>,
}

impl Code {
    /// Returns the folder of C libraries as an absolute path, for a host with a different working directory.
    ///
    /// # Errors
    /// Fails if the folder does not exist.
    pub(crate) fn absolute(&self) -> Result<Option<PathBuf>, Error> {
        let found = self.user_code.as_ref().map(|folder| folder.canonicalize().map_err(file("find", folder)));
        found.transpose()
    }
}
