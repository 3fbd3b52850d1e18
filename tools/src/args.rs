//! Arguments that several commands take.

use std::path::PathBuf;

use clap::Args;

/// Which plugins, and how they are built.
#[derive(Args, Debug)]
pub(crate) struct Plugins {
    /// Folders of plugin crates, or of workspaces that hold some.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Build with the release profile.
    #[arg(long)]
    pub(crate) release: bool,
}

/// What lives in the development host.
#[derive(Args, Debug)]
pub(crate) struct World {
    /// How many objects of every class of actor that the plugins declare.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) objects: u64,
    /// A package that plugins may declare types in, besides `Game`; may be given several times.
    #[arg(long = "package", value_name = "NAME")]
    pub(crate) packages: Vec<String>,
}
