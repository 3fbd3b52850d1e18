//! Why nothing new was written.

use std::io;
use std::path::{Path, PathBuf};

use super::name::NameError;

/// Why nothing new was written. Nothing of it is there then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewError {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Something of that name is there.
    #[error("{} is there already: take another name, or move it away first", path.display())]
    Exists {
        /// The folder that was to be made.
        path: PathBuf,
    },
    /// Alcedo's own crates are not where they should be.
    #[error(
        "{} is not a checkout of Alcedo: there is no {missing} in it. What is written uses Alcedo by its path until the \
         crates are published: clone the repository again, and say where with `--alcedo DIR` or ALCEDO_CHECKOUT=DIR",
        path.display()
    )]
    NoCheckout {
        /// Where it was looked for.
        path: PathBuf,
        /// A file that every checkout has.
        missing: String,
    },
    /// A path cannot stand in a manifest.
    #[error("the path {} is no UTF-8, so no Cargo.toml can name it: put the checkout elsewhere", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// The workspace around could not be read.
    #[error("`cargo metadata` could not read {}: {message}\ncorrect what it names, or go to a folder outside of it", manifest.display())]
    Around {
        /// Its manifest.
        manifest: PathBuf,
        /// What cargo said.
        message: String,
    },
    /// The workspace around does not take the plugin for a member.
    #[error(
        "{} would be no member of its workspace: add \"plugins/*\" to `members` in {}, and run this again",
        path.display(), manifest.display()
    )]
    NoMember {
        /// The plugin's folder.
        path: PathBuf,
        /// The workspace's manifest.
        manifest: PathBuf,
    },
    /// A workspace has a host and no glue.
    #[error(
        "the host `{host}` has no glue in the workspace of {}, by which plugins use its classes: make a library with `alcedo-plugin-api` as its \
         dependency, write its source with `alcedo glue --host {host} -o glue/src/lib.rs`, and run this again",
        manifest.display()
    )]
    NoGlue {
        /// The workspace's manifest.
        manifest: PathBuf,
        /// The package of the host.
        host: String,
    },
    /// The workspace around says nothing, or something wrong, about its glue and its host.
    #[error(
        "{} says that it is a workspace for Alcedo, but `{key} = \"{said}\"` in `[workspace.metadata.alcedo]` is no folder of a package \
         in it: correct the line",
        manifest.display()
    )]
    WrongMetadata {
        /// The workspace's manifest.
        manifest: PathBuf,
        /// Which line.
        key: &'static str,
        /// What it says.
        said: String,
    },
    /// A file could not be written or read.
    #[error("could not {doing} {}: {source}; check that the folder is writable and the disk is not full", path.display())]
    File {
        /// The verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl NewError {
    /// For `map_err` on what the file system says.
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}
