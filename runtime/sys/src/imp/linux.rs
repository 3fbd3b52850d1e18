//! Implementation for Linux with glibc. On this platform, `dlclose` may unmap an image or silently keep the image mapped.

mod altstack;
mod async_fds;
mod before;
mod c;
mod c_heap;
mod children;
mod companions;
mod cpp;
mod crash;
mod environment;
mod evict;
mod exits;
mod fds;
mod fence;
mod fork;
mod frames;
mod handler_arguments;
mod handlers;
pub(crate) mod hooks;
mod lease;
mod loaded;
mod locals;
mod lookups;
mod mapping;
mod memory;
mod names;
mod notifications;
mod onstack;
mod panics;
mod proc;
mod random;
mod ranges;
mod records;
#[cfg(test)]
mod repair_tests;
mod requests;
mod rings;
mod robust;
mod room;
mod scan;
mod signal_hooks;
mod signal_tables;
mod signals;
mod snapshot;
mod sources;
mod stacks;
mod started;
mod streams;
mod system_log;
#[cfg(target_arch = "x86_64")]
mod tail_calls;
mod threads;
mod timers;
mod untracked;

pub use c::descriptors::start_writing;
pub use c::kernel::coarse_clock;
pub(crate) use c::kernel::{clock, unshare_folder};
pub use c::loader::file_at;
pub(crate) use c::loader::open_library;
pub use c::peek::read as read_memory;
pub(crate) use crash::report_crashes;
pub use exits::at_exit;
pub use fence::Fence;
pub(crate) use lease::Lease;
pub(crate) use locals::has_thread_locals_here;
#[cfg(test)]
pub(crate) use lookups::is_noted_for_all;
pub(crate) use lookups::{forget_unmapped, note_for_all};
pub(crate) use mapping::Mapping;
pub(crate) use names::reported_name;
pub(crate) use panics::{are_panics_reported, report_panics, write_panic};
pub(crate) use records::Records;
pub(crate) use rings::own_ring;
pub use snapshot::Snapshot;
pub use threads::thread_stack;

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

use rustix::thread::futex;

use c::loader::{self, Listed};
use c::{callbacks, kernel};
use proc::{Maps, field};

use crate::ledger::repair::Repair;
use crate::lock;

/// `None`, because this platform unmaps images.
pub(crate) const KEEPS_IMAGES: Option<&str> = None;

/// Repairs of this platform, in the order in which they run. A repair frees one kind of resource that an image has left in the process.
/// Finalizers may store references to their image elsewhere, so these references are replaced before the memory of the image is freed.
/// Threads are joined before the pages of their stacks are freed. Memory is freed before streams are closed.
pub(crate) const REPAIRS: &[Repair] = &[
    scan::REPAIR,
    environment::REPAIR,
    random::REPAIR,
    cpp::REPAIR,
    altstack::REPAIR,
    frames::REPAIR,
    exits::REPAIR,
    streams::REPAIR,
    locals::REPAIR,
    requests::REPAIR,
    sources::REPAIR,
    system_log::REPAIR,
    children::REPAIR,
    threads::REPAIR,
    evict::REPAIR,
    c_heap::REPAIR,
    memory::REPAIR,
    fds::REPAIR,
    untracked::REPAIR,
    rings::REPAIR,
    companions::REPAIR,
    robust::REPAIR,
];

/// Returns all files that are mapped into this process, as code or data. A file with several mappings is listed several times.
pub(crate) fn mapped_files() -> io::Result<Vec<PathBuf>> {
    Ok(Maps::read()?.all().filter_map(|mapped| Some(mapped.file()?.to_owned())).collect())
}

pub(crate) fn forbids_code(folder: &Path) -> bool {
    let found = rustix::fs::statvfs(folder);
    found.is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
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
    // Prefers the exact sum, because the fast counters of the kernel lag by some pages per thread.
    let exact = fs::read_to_string("/proc/self/smaps_rollup").ok().and_then(|text| field(&text, "Rss:"));
    exact.map_or_else(|| status("VmRSS:"), Ok)
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
    // Excludes the descriptor that was used for reading this directory.
    Ok(fs::read_dir("/proc/self/fd")?.count().saturating_sub(1))
}

/// Returns the number of threads, including threads that libraries have started.
///
/// # Errors
///
/// Returns the system error if the threads cannot be counted.
pub fn threads() -> io::Result<usize> {
    status("Threads:").map(|count| count as usize)
}

/// Returns the ids and names of all threads, unordered.
///
/// # Errors
///
/// Returns the system error if the threads cannot be listed.
pub fn thread_names() -> io::Result<Vec<(i32, String)>> {
    // Skips threads that end while they are listed.
    Ok(proc::numbers("task")?.into_iter().filter_map(|tid| Some((tid, names::thread_name(tid)?))).collect())
}

pub(crate) fn thread_number() -> Option<i32> {
    Some(kernel::own_tid())
}

/// Returns all open file descriptors and their targets in the notation of the system (`/dev/null`, `socket:[4711]`,
/// `anon_inode:[eventpoll]`), sorted.
///
/// # Errors
///
/// Returns the system error if the descriptors cannot be listed.
pub fn fds() -> io::Result<Vec<(i32, String)>> {
    // Skips the descriptor that was used for reading the directory, because its link no longer exists.
    let mut fds: Vec<_> = proc::numbers("fd")?.into_iter().filter_map(|fd| Some((fd, fd_target(fd)?))).collect();
    fds.sort_unstable();
    Ok(fds)
}

pub(crate) fn fd_target(fd: i32) -> Option<String> {
    Some(fs::read_link(format!("/proc/self/fd/{fd}")).ok()?.to_string_lossy().into_owned())
}

/// Returns all mapped libraries, except those that the program itself needs and except copies of images.
pub(crate) fn opened_libraries() -> Vec<PathBuf> {
    let all = loaded::all();
    let Some(program) = all.first() else { return Vec::new() };
    let of_program = loaded::needs(program, &all);
    let is_opened = |library: &&loaded::Loaded| {
        let path = library.path();
        path.is_absolute() && !crate::folder::is_copy(&path) && !of_program.iter().any(|other| other.is(library))
    };
    all.iter().filter(is_opened).map(loaded::Loaded::path).collect()
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
    let taken: Vec<_> = std::iter::from_fn(|| callbacks::make_key().ok()).collect();
    let free = taken.len();
    for key in taken {
        callbacks::delete_key(key);
    }
    Ok(MOST_KEYS.saturating_sub(free))
}

const MOST_KEYS: usize = 1024;

/// Wakes all threads that wait on this word by a futex call.
pub(crate) fn wake_all(word: &AtomicU32) {
    let everybody = i32::MAX as u32;
    // Wakes both kinds of waiters, because the kernel has separate queues for private and for shared futexes.
    for flags in [futex::Flags::empty(), futex::Flags::PRIVATE] {
        let _woken = futex::wake(word, flags, everybody);
    }
}

/// Reaps exited children of unmapped images. If any image is ending, runs the calling thread's pending destructors of ending images.
pub(crate) fn checkpoint(is_any_ending: bool) -> u64 {
    children::reap_ended();
    if !is_any_ending {
        return 0;
    }
    // Excludes the image that has started this thread, because its frames may borrow the thread-locals.
    let own = locals::started_here();
    locals::run_here(|ledger| ledger.is_ending() && own.as_ref().is_none_or(|own| !own.is_of(ledger)))
}

/// Returns the segments of the image that contains this address.
#[cfg(any(test, target_arch = "x86_64"))]
fn ranges_around(address: usize) -> Vec<Range<usize>> {
    ranges_where(|listed| listed.segments().any(|range| range.contains(&address)))
}

/// Returns the segments of the first matching image on the loader's list.
fn ranges_where(is_it: impl Fn(&Listed<'_>) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    loader::walk(|listed| {
        let is_it = is_it(listed);
        if is_it {
            ranges.extend(listed.segments());
        }
        is_it
    });
    ranges
}

fn status(name: &str) -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    field(&text, name)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("no {name} in /proc/self/status")))
}
