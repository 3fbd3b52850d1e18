//! Numbers about this process, by which a reload is judged: does it leave anything behind?
//!
//! All of them may be asked for on any thread, and are only as fresh as the moment of asking. Where the platform does
//! not tell, the error is [`std::io::ErrorKind::Unsupported`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::elf::{self, StaticTls};
use crate::{imp, plain_file};

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

/// Fills `into` with what stands at `address` in this process; how many bytes there were before the first page that is not
/// there. No address is a fault. Zero where the platform cannot do that.
#[must_use]
pub fn read_memory(address: usize, into: &mut [u8]) -> usize {
    imp::read_memory(address, into)
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

/// The number and name of every thread there is now, in no order.
///
/// # Errors
///
/// Whatever the system says when the threads cannot be listed.
pub fn thread_names() -> io::Result<Vec<(i32, String)>> {
    imp::thread_names()
}

/// The system's number of the calling thread, as [`thread_names`] gives it; none where the platform has none.
#[must_use]
pub fn thread_number() -> Option<i32> {
    thread_local! {
        static NUMBER: Option<i32> = imp::thread_number();
    }
    // What runs while a thread ends may ask as well.
    NUMBER.try_with(|number| *number).unwrap_or_else(|_| imp::thread_number())
}

/// The time since some moment before this process began, exact to some milliseconds: a fifth of the cost of an exact time.
#[must_use]
pub fn coarse_clock() -> std::time::Duration {
    imp::coarse_clock()
}

/// The addresses of the stack of the calling thread, which are those of no coroutine; none where the platform does not report them.
#[must_use]
pub fn thread_stack() -> Option<std::ops::Range<usize>> {
    imp::thread_stack()
}

/// A thread as every report names it: `"worker-3" (4711)`, and as much of that as is known. A thread of an image that runs
/// is known to its own module by name, and so by its number alone.
#[must_use]
pub fn thread_in_words(name: Option<&str>, number: Option<i32>) -> String {
    imp::thread_in_words(name, number)
}

/// The calling thread, in the words of [`thread_in_words`].
#[must_use]
pub fn this_thread_in_words() -> String {
    thread_in_words(std::thread::current().name(), thread_number())
}

/// Every file descriptor that is open now, and what it leads to as the system words it (`/dev/null`, `socket:[4711]`,
/// `anon_inode:[eventpoll]`). Sorted.
///
/// # Errors
///
/// Whatever the system says when the descriptors cannot be listed.
pub fn fds() -> io::Result<Vec<(i32, String)>> {
    imp::fds()
}

/// How many keys for thread-specific values are taken now, of the 1,024 that a process may have.
///
/// They cannot be listed, so all that are free are taken for a moment. Meanwhile no other thread gets one: this is for
/// tests and measurements.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] where there are no such keys.
pub fn keys_in_use() -> io::Result<usize> {
    imp::keys_in_use()
}

/// The file from which the code or data at an address was mapped, as the loader lists it; the program itself under the
/// name it was started by. `None` for an address of no image.
#[must_use]
pub fn file_at(address: usize) -> Option<PathBuf> {
    imp::file_at(address)
}

/// The libraries that were opened since the program started, copies of images left out, with what each takes of the static
/// thread-local storage. Reads their files.
#[must_use]
pub fn static_tls() -> Vec<(PathBuf, StaticTls)> {
    let of_file = |path: PathBuf| Some((StaticTls::of(&plain_file::read(&path, elf::LARGEST).ok()?)?, path));
    imp::opened_libraries().into_iter().filter_map(of_file).map(|(taken, path)| (path, taken)).collect()
}

/// Says that the io_uring to which this descriptor leads is the host's own. A ring that comes to be while a module is loaded,
/// and which no hook has reported, is taken for the module's otherwise: modules may make some by bare system calls, and
/// one that has given work to the kernel keeps its memory until the ring is closed. False when the descriptor leads to
/// none, or the platform has none.
///
/// # Safety
///
/// No request that is given to this ring reads or writes memory of a module.
#[expect(unsafe_code, reason = "whoever says so of a module's ring takes the module's memory from under the kernel")]
pub unsafe fn own_ring(fd: i32) -> bool {
    imp::own_ring(fd)
}
