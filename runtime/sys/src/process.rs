//! Measures resources of this process: mapped files, memory, threads and descriptors. Growth over several reloads indicates a leak.
//!
//! All functions are callable on any thread and return a snapshot. If the platform does not support a measurement, the function returns
//! [`std::io::ErrorKind::Unsupported`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::elf::StaticTls;
pub use crate::imp::{
    coarse_clock, describe_thread, fds, file_at, keys_in_use, open_fds, read_memory, rss_kib, thread_names,
    thread_stack, threads,
};
pub use crate::stat::started;
use crate::{imp, plain_file};

/// Returns the files below `stage_dir` that are mapped into this process, sorted and without duplicates. Deleted files are included.
///
/// # Errors
///
/// Returns the system error if the list of mappings cannot be read.
///
/// # Examples
/// ```
/// # let folder = tempfile::tempdir()?;
/// use alcedo_sys::process;
///
/// assert!(process::stale_mappings(folder.path())?.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn stale_mappings(stage_dir: &Path) -> io::Result<Vec<PathBuf>> {
    // The system lists mappings by their real paths. If the directory was removed, its path cannot be resolved and is used as it is.
    let dir = fs::canonicalize(stage_dir).unwrap_or_else(|_| stage_dir.to_owned());
    let mut files: Vec<_> = imp::mapped_files()?.into_iter().filter(|path| path.starts_with(&dir)).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Returns the system's id of the calling thread, as in [`thread_names`]. Returns `None` on platforms without thread ids.
#[must_use]
pub fn thread_number() -> Option<i32> {
    thread_local! {
        static NUMBER: Option<i32> = imp::thread_number();
    }
    // This function is also called while a thread exits, when its thread-locals may already be destroyed.
    NUMBER.try_with(|number| *number).unwrap_or_else(|_| imp::thread_number())
}

/// Formats the name and id of the calling thread, as [`describe_thread`] does.
#[must_use]
pub fn describe_this_thread() -> String {
    describe_thread(std::thread::current().name(), thread_number())
}

/// Returns the libraries that were opened after the start of the program and use static thread-local storage, except copies of images.
/// Reads the files of these libraries.
#[must_use]
pub fn static_tls() -> Vec<(PathBuf, StaticTls)> {
    let of_file =
        |path: PathBuf| Some((StaticTls::of(&plain_file::read(&path, plain_file::LARGEST_LIBRARY).ok()?)?, path));
    imp::opened_libraries().into_iter().filter_map(of_file).map(|(taken, path)| (path, taken)).collect()
}

/// Declares that the io_uring of this descriptor belongs to the host. Otherwise, a ring that no hook reported is attributed to the modules
/// that were loaded at its creation. Such a module stays mapped while the ring is open, because a request of the ring may use its memory.
/// Returns `false` if the descriptor is not an io_uring, or if the platform has no io_urings.
///
/// # Safety
///
/// No request of this ring accesses memory of a module.
#[expect(unsafe_code, reason = "for a ring of a module, the kernel would write to freed memory")]
pub unsafe fn own_ring(fd: i32) -> bool {
    imp::own_ring(fd)
}
