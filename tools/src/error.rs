//! Why a command ended early.

use std::io;
use std::path::{Path, PathBuf};

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
    /// A part of a command has an error of its own, in whose words it is reported.
    #[error(transparent)]
    Part(Box<dyn std::error::Error + Send + Sync>),
    /// A workspace without glue.
    #[error(
        "no file of {} has glue that could be written again; write that of a host with \
         `alcedo glue --host {} -o glue/src/host.rs`, that of a plugin with `alcedo build` and \
         `alcedo glue target/debug/lib{}.so -o src/{}.rs`",
        path.display(),
        host.as_deref().unwrap_or("HOST"),
        plugin.as_deref().unwrap_or("PLUGIN"),
        plugin.as_deref().unwrap_or("plugin")
    )]
    NoGlue {
        /// The folder of the workspace.
        path: PathBuf,
        /// The name of its host.
        host: Option<String>,
        /// The name of a module in it.
        plugin: Option<String>,
    },
    /// A host's package makes several programs.
    #[error("package `{package}` makes the programs {}: let the one that is the host have the package's name, or name its file with --host", programs.join(", "))]
    SeveralPrograms {
        /// The package.
        package: String,
        /// Their names.
        programs: Vec<String>,
    },
}

impl From<alcedo_runtime::Error> for Error {
    fn from(error: alcedo_runtime::Error) -> Self {
        Self::Host(Box::new(error))
    }
}

impl Error {
    /// For `map_err` on the error of a part.
    pub(crate) fn part(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Part(Box::new(error))
    }

    /// For `map_err` on what the file system says.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}
