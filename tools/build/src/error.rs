//! What can go wrong between a plugin's sources and its library, told with the way out.
//! Fields hold the facts, so that a tool can lay them out its own way; the text is for those who just print it.

use std::io;
use std::path::PathBuf;

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The compiler refused the sources. The text is the compiler's, since nobody says it better.
    #[error("{rendered}\n`{command}` found errors: correct them and save again")]
    DoesNotCompile {
        /// Every diagnostic of the compiler, once each, as it rendered them.
        rendered: String,
        /// The command that shows the same in a shell.
        command: String,
    },
    /// The cargo program could not be started at all.
    #[error(
        "could not start `{program}`: {source}; install Rust from https://rustup.rs, or set CARGO to a cargo program"
    )]
    CargoNotRun {
        /// The program that was tried.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// Cargo stopped before or beside the compiler: a manifest, a lock file, a registry, a build script.
    #[error(
        "`{command}` failed before it had a library:\n{stderr}\ncorrect what cargo names above, or run the command by hand to see more"
    )]
    CargoFailed {
        /// The command that shows the same in a shell.
        command: String,
        /// All that cargo wrote to its error stream.
        stderr: String,
    },
    /// The build went well, but made nothing that a host can load.
    #[error(
        "{what} has no cdylib, so there is nothing to load: add `[lib] crate-type = [\"cdylib\"]` to its Cargo.toml"
    )]
    NoLibrary {
        /// The package or the manifest that was built.
        what: String,
    },
    /// The build went well, but made no program.
    #[error("{what} has no program to run as a host: it needs a src/main.rs, or name another package")]
    NoProgram {
        /// The package or the manifest that was built.
        what: String,
    },
    /// Cargo could not describe the crate or workspace.
    #[error("`cargo metadata` could not read {}: {message}\nname a folder that holds a Cargo.toml", manifest.display())]
    Metadata {
        /// The manifest that was asked about.
        manifest: PathBuf,
        /// What cargo said.
        message: String,
    },
    /// All folders could be read, yet none holds a plugin.
    #[error(
        "no plugin in {}: a plugin is a crate with `[lib] crate-type = [\"cdylib\"]`; name its folder, or that of its workspace",
        list(dirs)
    )]
    NoPlugins {
        /// The folders that were searched.
        dirs: Vec<PathBuf>,
    },
    /// A host was named that is not there.
    #[error(
        "there is no package `{named}` to be the host, neither as a folder nor in the workspaces of {}: name a folder with a Cargo.toml, a package, or a program that is built already",
        list(dirs)
    )]
    NoHost {
        /// How it was named.
        named: String,
        /// Where it was looked for.
        dirs: Vec<PathBuf>,
    },
    /// The build was ended on request; its target folder is fit for the next one.
    #[error("`{command}` was canceled: build again to have a library")]
    Canceled {
        /// The command that was ended.
        command: String,
    },
    /// A copy of a library was requested with a switch that its code does not read.
    #[error(
        "{} has no switch `{name}`, but {}: correct the name, or read the switch in its code by `fixture::on!(\"{name}\")`",
        library.display(), if known.is_empty() { "none".into() } else { known.join(", ") }
    )]
    NoSwitch {
        /// The library as it was built.
        library: PathBuf,
        /// The switch that was requested.
        name: String,
        /// The switches of the library.
        known: Vec<String>,
    },
    /// A library was built, but could not be kept as a variant.
    #[error("could not {doing} {}: {source}; check that the folder is writable and the disk is not full", path.display())]
    Store {
        /// The verb: "create", "lock", "copy", "read".
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why sources are not watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The system gives out no watcher.
    #[error("could not start watching files: {source}; raise fs.inotify.max_user_instances or close other watchers")]
    NoWatcher {
        /// What the system said.
        source: notify::Error,
    },
    /// One folder cannot be watched.
    #[error("could not watch {}: {source}; check that it exists, and raise fs.inotify.max_user_watches if it is large", dir.display())]
    Dir {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        source: notify::Error,
    },
}

fn list(dirs: &[PathBuf]) -> String {
    let names: Vec<_> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    if names.is_empty() { "an empty list of folders".into() } else { names.join(", ") }
}
