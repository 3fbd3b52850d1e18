//! Measures resources of this process: mapped files, memory, threads and descriptors. Growth over several reloads indicates a leak.
//!
//! All functions are callable on any thread and return a snapshot. If the platform does not support a measurement, the function returns
//! [`std::io::ErrorKind::Unsupported`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::elf::StaticTls;
pub use crate::imp::describe_thread;
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

/// Returns the resident memory of this process in KiB.
///
/// # Errors
///
/// Returns the system error if the figure cannot be read.
///
/// # Examples
/// ```
/// use alcedo_sys::process;
///
/// let before = process::rss_kib()?;
/// let world = vec![1_u8; 8 << 20];
/// println!("the world takes {} KiB", process::rss_kib()?.saturating_sub(before));
/// # drop(world);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn rss_kib() -> io::Result<u64> {
    imp::rss_kib()
}

/// Reads memory of this process at `address` into `into`. Returns the number of bytes before the first unmapped page. An invalid address
/// causes no fault. On platforms without support, returns zero.
#[must_use]
pub fn read_memory(address: usize, into: &mut [u8]) -> usize {
    imp::read_memory(address, into)
}

/// Returns the number of open file descriptors.
///
/// # Errors
///
/// Returns the system error if the descriptors cannot be listed.
///
/// # Examples
/// ```
/// use alcedo_sys::process;
///
/// let manifest = std::fs::File::open(std::env::current_exe()?)?;
/// assert!(process::open_fds()? >= 1);
/// # drop(manifest);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_fds() -> io::Result<usize> {
    imp::open_fds()
}

/// Returns the number of threads, including threads that libraries have started.
///
/// # Errors
///
/// Returns the system error if the threads cannot be counted.
pub fn threads() -> io::Result<usize> {
    imp::threads()
}

/// Returns the ids and names of all threads, unordered.
///
/// # Errors
///
/// Returns the system error if the threads cannot be listed.
pub fn thread_names() -> io::Result<Vec<(i32, String)>> {
    imp::thread_names()
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

/// Returns the time since a fixed moment before the start of this process. The precision is some milliseconds. A call is five times faster
/// than reading an exact clock.
#[must_use]
pub fn coarse_clock() -> std::time::Duration {
    imp::coarse_clock()
}

/// Returns the address range of the calling thread's own stack (never of a coroutine). Returns `None` if the platform does not report the
/// range.
#[must_use]
pub fn thread_stack() -> Option<std::ops::Range<usize>> {
    imp::thread_stack()
}

/// Formats the name and id of the calling thread, as [`describe_thread`] does.
#[must_use]
pub fn describe_this_thread() -> String {
    describe_thread(std::thread::current().name(), thread_number())
}

/// Returns all open file descriptors and their targets in the notation of the system (`/dev/null`, `socket:[4711]`,
/// `anon_inode:[eventpoll]`), sorted.
///
/// # Errors
///
/// Returns the system error if the descriptors cannot be listed.
pub fn fds() -> io::Result<Vec<(i32, String)>> {
    imp::fds()
}

/// Returns the number of keys for thread-specific values in use. A process has 1,024 keys.
///
/// Keys cannot be listed, so this function allocates all free keys and then deletes them. During the call, other threads cannot allocate a
/// key. For tests and measurements only.
///
/// # Errors
///
/// Returns [`io::ErrorKind::Unsupported`] on platforms without keys for thread-specific values.
pub fn keys_in_use() -> io::Result<usize> {
    imp::keys_in_use()
}

/// Returns the file from which the memory at an address was mapped, as listed by the loader. For an address of the program, returns the
/// name with which the program was started. Returns `None` for addresses outside of all images.
#[must_use]
pub fn file_at(address: usize) -> Option<PathBuf> {
    imp::file_at(address)
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
