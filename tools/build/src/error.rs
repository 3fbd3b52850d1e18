//! Errors of builds and of source watches, with suggested fixes. `Display` writes plain text. Tools can format the fields differently.

use std::io;
use std::path::{Path, PathBuf};

/// Reason why a build has failed.
///
/// # Examples
/// ```
/// use alcedo_build::BuildError;
///
/// let error = BuildError::DoesNotCompile {
///     rendered: "error[E0425]: cannot find value `speed`".into(),
///     command: "cargo build --lib".into(),
///     inputs: Vec::new(),
/// };
/// assert!(error.to_string().ends_with("`cargo build --lib` found errors: correct them"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The compiler rejected the sources.
    #[error("{rendered}\n`{command}` found errors: correct them")]
    DoesNotCompile {
        /// Diagnostics as the compiler rendered them, without duplicates.
        rendered: String,
        /// The command that reproduces the errors in a shell.
        command: String,
        /// Files that the compiler has read or has not found. A change to one of these files may correct the errors. The list may be
        /// incomplete.
        inputs: Vec<PathBuf>,
    },
    /// The cargo program could not be started.
    #[error(
        "could not start `{program}`: {source}; install Rust from https://rustup.rs, or set CARGO to a cargo program"
    )]
    CargoNotRun {
        /// The program that could not be started.
        program: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Cargo failed outside the compiler, for example because of a manifest, a lock file, a registry or a build script.
    #[error(
        "`{command}` failed before it built a library:\n{stderr}\ncorrect what cargo names above, or run the command by hand to see more"
    )]
    CargoFailed {
        /// The command that reproduces the failure in a shell.
        command: String,
        /// Contents of cargo's error stream.
        stderr: String,
    },
    /// The build succeeded, but produced no library that a host can load.
    #[error(
        "{what} has no cdylib, so there is nothing to load: add `[lib] crate-type = [\"cdylib\"]` to its Cargo.toml"
    )]
    NoLibrary {
        /// The package or the manifest that was built.
        what: String,
    },
    /// The build succeeded, but produced no program.
    #[error("{what} has no program to run as a host: it needs a src/main.rs, or name another package")]
    NoProgram {
        /// The package or the manifest that was built.
        what: String,
    },
    /// Cargo could not describe the crate or workspace.
    #[error("`cargo metadata` could not read {}: {message}\nname a folder that holds a Cargo.toml", manifest.display())]
    Metadata {
        /// Manifest of the crate or workspace.
        manifest: PathBuf,
        /// Message of cargo.
        message: String,
    },
    /// The folders could be read, but none contains a plugin.
    #[error(
        "no plugin in {}: a plugin is a crate with `[lib] crate-type = [\"cdylib\"]`; name its folder, or that of its workspace",
        list(dirs)
    )]
    NoPlugins {
        /// The folders that were searched.
        dirs: Vec<PathBuf>,
    },
    /// The host that the user or a manifest named does not exist.
    #[error(
        "the host package `{named}` does not exist, neither as a folder nor in the workspaces of {}: name a folder with a Cargo.toml, a package, or an existing program",
        list(dirs)
    )]
    NoHost {
        /// The name of the host, as specified.
        named: String,
        /// The searched folders.
        dirs: Vec<PathBuf>,
    },
    /// The build was canceled. Its target folder is unlocked, so the next build can use this folder.
    #[error("`{command}` was canceled: build again to have a library")]
    Canceled {
        /// The canceled command.
        command: String,
    },
    /// A copy of a library was requested with a switch that the library does not contain.
    #[error(
        "{} has no switch `{name}`, but {}: correct the name, or read the switch in its code by `fixture::on!(\"{name}\")`",
        library.display(), if known.is_empty() { "none".into() } else { known.join(", ") }
    )]
    NoSwitch {
        /// The library that was to be copied.
        library: PathBuf,
        /// The switch that was requested.
        name: String,
        /// The switches of the library.
        known: Vec<String>,
    },
    /// A file of a build or of a copy could not be read or written, or the operation is not allowed.
    #[error("could not {doing} {}: {source}; check that the folder is writable and the disk is not full", path.display())]
    Store {
        /// Verb that names the failed operation, such as "create", "lock", "seal".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Reason why sources cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The operating system provides no file watcher.
    #[error("could not start watching files: {source}; raise fs.inotify.max_user_instances or close other watchers")]
    NoWatcher {
        /// Error of the watcher.
        source: notify::Error,
    },
    /// A folder cannot be watched.
    #[error("could not watch {}: {source}; check that it exists, and raise fs.inotify.max_user_watches if it is large", dir.display())]
    Dir {
        /// The folder.
        dir: PathBuf,
        /// Error of the watcher.
        source: notify::Error,
    },
}

/// Returns a function that converts an I/O error into a [`BuildError::Store`].
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    move |source| BuildError::Store { doing, path: path.to_owned(), source }
}

fn list(dirs: &[PathBuf]) -> String {
    let names: Vec<_> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    if names.is_empty() { "an empty list of folders".into() } else { names.join(", ") }
}
