//! Performs typical operations of plugins. Each operation releases its own resources.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::slice;
use std::thread;

/// Allocates blocks of many sizes. These blocks may reuse memory that the unloaded plugin has freed.
pub(crate) fn blocks() -> Vec<Vec<u64>> {
    (1..=200).map(|length| vec![length; usize::try_from(length).unwrap_or(0)]).collect()
}

/// Checks that each block is unchanged.
pub(crate) fn check_blocks(blocks: &[Vec<u64>]) -> Result<(), String> {
    match blocks.iter().find(|block| block.iter().any(|word| *word != block.len() as u64)) {
        None => Ok(()),
        Some(block) => Err(format!("its block of {} words at {:p} was overwritten", block.len(), block.as_ptr())),
    }
}

/// Maps, fills, protects, reads and unmaps pages.
pub(crate) fn pages() -> Result<(), String> {
    const LEN: usize = 16 * 4096;
    let (flags, access) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: maps new pages at an address chosen by the kernel.
    let start = unsafe { libc::mmap(ptr::null_mut(), LEN, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err("there are none".to_owned());
    }
    // SAFETY: the call above has mapped this many bytes.
    unsafe { start.cast::<u8>().write_bytes(7, LEN) };
    // SAFETY: these pages belong to this function only.
    let locked = unsafe { libc::mprotect(start, LEN, libc::PROT_READ) };
    // SAFETY: the pages are mapped, initialized, and read-only now.
    let is_whole = unsafe { slice::from_raw_parts(start.cast::<u8>(), LEN) }.iter().all(|byte| *byte == 7);
    // SAFETY: no reference to the pages is left.
    let unmapped = unsafe { libc::munmap(start, LEN) };
    if (locked, is_whole, unmapped) == (0, true, 0) { Ok(()) } else { Err(format!("{locked}, {is_whole}, {unmapped}")) }
}

/// Allocates and frees blocks of the C library's heap. The whole process shares this heap.
pub(crate) fn memory_of_c() -> Result<(), String> {
    let sizes = [24, 100, 1000, 5000, 200_000];
    // SAFETY: `malloc` has no preconditions.
    let blocks = sizes.map(|size| (unsafe { libc::malloc(size) }.cast::<u8>(), size));
    let mut is_whole = true;
    for (block, size) in blocks.iter().filter(|(block, _)| !block.is_null()) {
        // SAFETY: the block has this many bytes and belongs to this function only.
        unsafe { block.write_bytes(9, *size) };
    }
    for (block, size) in blocks.into_iter().filter(|(block, _)| !block.is_null()) {
        // SAFETY: the block has this many bytes, written above.
        is_whole &= unsafe { slice::from_raw_parts(block, size) }.iter().all(|byte| *byte == 9);
        // SAFETY: the block is from `malloc`, and no reference to it is left.
        unsafe { libc::free(block.cast()) };
    }
    if is_whole { Ok(()) } else { Err("a block has changed".to_owned()) }
}

/// Runs two threads, each with a thread-local that has a destructor.
pub(crate) fn threads() -> Result<(), String> {
    thread_local! {
        static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }
    let count = |number: usize| {
        LINES.with_borrow_mut(|lines| (0..number).for_each(|line| lines.push(line.to_string())));
        LINES.with_borrow(Vec::len)
    };
    let threads = [10, 32].map(|number| thread::spawn(move || count(number)));
    let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum();
    if sum == 42 { Ok(()) } else { Err(format!("they counted {sum}")) }
}

/// Raises and catches a panic, for which the unwinder searches all registered unwind tables.
pub(crate) fn panics() -> Result<(), String> {
    let caught = panic::catch_unwind(AssertUnwindSafe(|| panic::resume_unwind(Box::new(42_u32))));
    match caught.err().and_then(|payload| payload.downcast::<u32>().ok()) {
        Some(number) if *number == 42 => Ok(()),
        _ => Err("another came out than went in".to_owned()),
    }
}

/// Reads all environment variables.
pub(crate) fn environment() -> Result<(), String> {
    let bytes: usize = std::env::vars_os().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > 0 { Ok(()) } else { Err("it is empty".to_owned()) }
}

/// Prints a line through the C library's standard output, whose buffer may be in the memory of an unloaded module.
pub(crate) fn output_of_c() -> Result<(), String> {
    // SAFETY: a string with a terminating zero.
    let written = unsafe { libc::puts(c"a line of the neighbor".as_ptr()) };
    // SAFETY: a null stream flushes all streams.
    let flushed = unsafe { libc::fflush(ptr::null_mut()) };
    if written >= 0 && flushed == 0 { Ok(()) } else { Err(format!("{written}, {flushed}")) }
}

/// Uses the random generator of the C library, whose state may be in the memory of an unloaded module.
pub(crate) fn random_of_c() -> Result<(), String> {
    // SAFETY: `rand` has no preconditions.
    let numbers = [(); 4].map(|()| unsafe { libc::rand() });
    if numbers.iter().all(|number| *number >= 0) { Ok(()) } else { Err(format!("{numbers:?}")) }
}

/// Forks a child that exits immediately. The fork runs all registered fork handlers.
pub(crate) fn fork() -> Result<(), String> {
    // SAFETY: the child only exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: exits the child without running exit handlers of this process.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    let waited = loop {
        // SAFETY: waits for the child created above; `status` is writable.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        // Waits again if a signal has interrupted the wait.
        if waited >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            break waited;
        }
    };
    if child > 0 && waited == child && status == 0 { Ok(()) } else { Err(format!("{child}, {waited}, {status}")) }
}
