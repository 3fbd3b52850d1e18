//! Why a command ended early.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(feature = "bindgen")]
mod bindgen;

#[cfg(feature = "bindgen")]
pub(crate) use bindgen::BindgenError;

use crate::ask::AskError;
#[cfg(not(feature = "bindgen"))]
use crate::install::installing;

/// Why a command ended early. Errors of a plugin's sources are not among them where a world is running: those are
/// reported, and the old code goes on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The plugins could not be found or built.
    #[error(transparent)]
    Build(#[from] alcedo_build::BuildError),
    /// Their sources could not be watched.
    #[error(transparent)]
    Watch(#[from] alcedo_build::WatchError),
    /// The host refused.
    #[error(transparent)]
    Host(Box<alcedo_runtime::Error>),
    /// A library cannot be inspected.
    #[error(transparent)]
    Library(#[from] Box<alcedo_runtime::ContextError>),
    /// No glue can be written for a library or a host.
    #[error(transparent)]
    Glue(#[from] alcedo_glue::GlueError),
    /// A host does not say what it declares.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A folder without anything to check.
    #[error(
        "no package of scripts and no plugin in {}: name a folder of `.uc` files, a folder of plugin crates (`crate-type = [\"cdylib\"]`), or a built library",
        path.display()
    )]
    NoModules {
        /// The folder.
        path: PathBuf,
    },
    /// A built library where sources are expected.
    #[error("{} is a built library, and `alcedo dev` builds what it runs: name the folder of its crate", path.display())]
    NoSources {
        /// The library.
        path: PathBuf,
    },
    /// Plugins without a package that uses them.
    #[error(
        "there is no package of scripts in {}: name a folder of `.uc` files as well",
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoPackages {
        /// Where it was looked for.
        paths: Vec<PathBuf>,
    },
    /// A package of scripts has errors.
    #[error("{text}")]
    Scripts {
        /// All of them, with their places.
        text: String,
    },
    /// No declarations can be written for a header.
    #[cfg(feature = "bindgen")]
    #[error(transparent)]
    Bindgen(#[from] BindgenError),
    /// The command is built without the feature.
    #[cfg(not(feature = "bindgen"))]
    #[error(
        "this build of `alcedo` is without the feature `bindgen`, which reads C headers by libclang: {}, then `alcedo bindgen{}` again",
        installing(&["bindgen"]),
        arguments.iter().map(|argument| format!(" {}", argument.display())).collect::<String>()
    )]
    NoBindgen {
        /// Arguments of the command.
        arguments: Vec<std::ffi::OsString>,
    },
    /// A file could not be read or written.
    #[error("could not {doing} {}: {source}; check that the folder is writable and the disk is not full", path.display())]
    File {
        /// The verb: "copy", "seal".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A key could not be made or read.
    #[error(transparent)]
    Key(#[from] alcedo_runtime::KeyError),
    /// The terminal or the pipe is not what it should be.
    #[error("could not {doing}: {source}; run it with standard input and output redirected to do without a terminal")]
    Terminal {
        /// The verb and its object.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing new was written.
    #[error(transparent)]
    New(#[from] crate::new::NewError),
    /// There is no such code any more.
    #[error(transparent)]
    NoSuchGeneration(#[from] crate::session::NoSuchGeneration),
    /// A host's package makes several programs.
    #[error("package `{package}` makes the programs {}: let the one that is the host have the package's name, or name its file with --host", programs.join(", "))]
    SeveralPrograms {
        /// The package.
        package: String,
        /// Their names.
        programs: Vec<String>,
    },
    /// The example plugins are not where they were when this program was built.
    #[error("there is no example plugin in {}: run the demo of a clone of the repository, with `cargo run --bin alcedo -- demo`", path.display())]
    NoExamples {
        /// Where they were.
        path: PathBuf,
    },
    /// The demo's edit does not fit the plugin's source.
    #[error(transparent)]
    Edit(#[from] crate::demo::EditError),
    /// An expected step of the demo never came.
    #[error("{what} did not come within {} s: run the demo again with ALCEDO_LOG=debug to see what it waits for", patience.as_secs())]
    Late {
        /// What was waited for.
        what: &'static str,
        /// For how long.
        patience: Duration,
    },
    /// The world of the demo is not as the demo needs it.
    #[error("the demo expected {expected}, but found {found}: the example plugin and the demo do not fit each other")]
    Unexpected {
        /// What should be.
        expected: String,
        /// What is.
        found: String,
    },
    /// The user pressed Ctrl-C.
    #[error("interrupted: the world was ended in order, and the demo did not come to its end")]
    Interrupted,
}

impl From<alcedo_runtime::Error> for Error {
    fn from(error: alcedo_runtime::Error) -> Self {
        Self::Host(Box::new(error))
    }
}

impl Error {
    /// For `map_err` on what the file system says.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}
