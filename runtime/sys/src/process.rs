//! Numbers about this process, by which a reload is judged: does it leave anything behind?
//!
//! All of them may be asked for on any thread, and are only as fresh as the moment of asking. Where the platform does
//! not tell, the error is [`std::io::ErrorKind::Unsupported`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::imp;

/// The files below `stage_dir` that are mapped into this process now, each once and sorted, whether or not the file
/// still exists.
///
/// # Errors
///
/// Whatever the system says when the list of mappings cannot be read.
pub fn stale_mappings(stage_dir: &Path) -> io::Result<Vec<PathBuf>> {
    // Mappings carry real paths. A directory that is gone cannot be resolved, but was given as a real path then.
    let dir = fs::canonicalize(stage_dir).unwrap_or_else(|_| stage_dir.to_owned());
    let mut files: Vec<_> = imp::mapped_files()?.into_iter().filter(|path| path.starts_with(&dir)).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Memory of this process that is resident now, in KiB.
///
/// # Errors
///
/// Whatever the system says when its figures cannot be read.
pub fn rss_kib() -> io::Result<u64> {
    imp::rss_kib()
}

/// How many file descriptors are open now.
///
/// # Errors
///
/// Whatever the system says when the descriptors cannot be listed.
pub fn open_fds() -> io::Result<usize> {
    imp::open_fds()
}

/// How many threads there are now, those of libraries included.
///
/// # Errors
///
/// Whatever the system says when the threads cannot be counted.
pub fn threads() -> io::Result<usize> {
    imp::threads()
}
