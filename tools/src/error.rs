//! Why a command ended early. Each error is printed and never matched, so it is a text: the attempt, its object, and the way out.
//! Errors of a plugin's sources are none of these where a world is running: those are reported, and the old code continues.

use std::io;
use std::path::{Path, PathBuf};

pub(crate) use anyhow::Error;
use anyhow::anyhow;

/// For `map_err` on an error of the file system.
pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| {
        anyhow!(
            "could not {doing} {}: {source}; check that the folder is writable and the disk is not full",
            path.display()
        )
    }
}

/// For `map_err` on an error of the terminal or a pipe.
pub(crate) fn terminal(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| {
        anyhow!(
            "could not {doing}: {source}; run it with standard input and output redirected to do without a terminal"
        )
    }
}

/// Paths in a sentence.
pub(crate) fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
