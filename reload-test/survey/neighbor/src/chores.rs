//! What plugins do all day. Each chore ends what it began.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::slice;
use std::thread;

/// Blocks of many sizes that are kept, from an allocator that has just got memory back.
pub(crate) fn blocks() -> Vec<Vec<u64>> {
    (1..=200).map(|length| vec![length; usize::try_from(length).unwrap_or(0)]).collect()
}

/// Whether each block is as it was.
pub(crate) fn check_blocks(blocks: &[Vec<u64>]) -> Result<(), String> {
    match blocks.iter().find(|block| block.iter().any(|word| *word != block.len() as u64)) {
        None => Ok(()),
        Some(block) => Err(format!("somebody wrote into its block of {} words at {:p}", block.len(), block.as_ptr())),
    }
}

/// Maps, fills, protects, reads and unmaps.
pub(crate) fn pages() -> Result<(), String> {
    const LEN: usize = 16 * 4096;
    let (flags, access) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: new pages, wherever there is room.
    let start = unsafe { libc::mmap(ptr::null_mut(), LEN, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err("there are none".to_owned());
    }
    // SAFETY: the call above has mapped as many bytes.
    unsafe { start.cast::<u8>().write_bytes(7, LEN) };
    // SAFETY: these pages are nobody else's.
    let locked = unsafe { libc::mprotect(start, LEN, libc::PROT_READ) };
    // SAFETY: they are mapped, filled, and not written to any more.
    let is_whole = unsafe { slice::from_raw_parts(start.cast::<u8>(), LEN) }.iter().all(|byte| *byte == 7);
    // SAFETY: nobody refers to them any more.
    let gone = unsafe { libc::munmap(start, LEN) };
    if (locked, is_whole, gone) == (0, true, 0) { Ok(()) } else { Err(format!("{locked}, {is_whole}, {gone}")) }
}

/// Blocks of the C library's heap, which everything in the process shares.
pub(crate) fn memory_of_c() -> Result<(), String> {
    let sizes = [24, 100, 1000, 5000, 200_000];
    // SAFETY: asks for memory.
    let blocks = sizes.map(|size| (unsafe { libc::malloc(size) }.cast::<u8>(), size));
    let mut is_whole = true;
    for (block, size) in blocks.iter().filter(|(block, _)| !block.is_null()) {
        // SAFETY: the block has as many bytes and is this function's alone.
        unsafe { block.write_bytes(9, *size) };
    }
    for (block, size) in blocks.into_iter().filter(|(block, _)| !block.is_null()) {
        // SAFETY: it has as many bytes, written above.
        is_whole &= unsafe { slice::from_raw_parts(block, size) }.iter().all(|byte| *byte == 9);
        // SAFETY: it is from `malloc`, and nobody refers to it any more.
        unsafe { libc::free(block.cast()) };
    }
    if is_whole { Ok(()) } else { Err("a block has changed".to_owned()) }
}

/// Two threads, each with a thread-local that has a destructor.
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

/// A panic that is caught: all frames on the way are looked up among those that anybody has announced.
pub(crate) fn panics() -> Result<(), String> {
    let caught = panic::catch_unwind(AssertUnwindSafe(|| panic::resume_unwind(Box::new(42_u32))));
    match caught.err().and_then(|payload| payload.downcast::<u32>().ok()) {
        Some(number) if *number == 42 => Ok(()),
        _ => Err("another came out than went in".to_owned()),
    }
}

/// Reads every variable there is.
pub(crate) fn environment() -> Result<(), String> {
    let bytes: usize = std::env::vars_os().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > 0 { Ok(()) } else { Err("it is empty".to_owned()) }
}

/// A line through the stream of the C library, whose buffer is whose?
pub(crate) fn output_of_c() -> Result<(), String> {
    // SAFETY: a text that ends with a zero.
    let written = unsafe { libc::puts(c"a line of the neighbor".as_ptr()) };
    // SAFETY: no stream means all of them.
    let flushed = unsafe { libc::fflush(ptr::null_mut()) };
    if written >= 0 && flushed == 0 { Ok(()) } else { Err(format!("{written}, {flushed}")) }
}

/// The generator of the C library, whose state is whose?
pub(crate) fn random_of_c() -> Result<(), String> {
    // SAFETY: takes the next number.
    let numbers = [(); 4].map(|()| unsafe { libc::rand() });
    if numbers.iter().all(|number| *number >= 0) { Ok(()) } else { Err(format!("{numbers:?}")) }
}

/// A child that ends at once: what anybody has asked to be run at a fork is run.
pub(crate) fn fork() -> Result<(), String> {
    // SAFETY: the child does nothing but end.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child without running anything of this process's end.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    let waited = loop {
        // SAFETY: waits for the child that was made above; `status` is there to be written.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        // A signal may come in between.
        if waited >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            break waited;
        }
    };
    if child > 0 && waited == child && status == 0 { Ok(()) } else { Err(format!("{child}, {waited}, {status}")) }
}
