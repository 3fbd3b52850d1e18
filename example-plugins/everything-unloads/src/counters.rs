//! Counts destructors and handlers in a file that the plugin shares with the host. The file lists the destructors and handlers that must
//! run at the end of this generation, and those that have run. The file has one row per generation, and one slot per thread and kind. After
//! the image is unmapped, the host reads the file, and detects a destructor that never ran, ran twice or ran on the wrong thread.
//!
//! The file consists of 64-bit words. The first word is the number of generations so far. [`ROWS`] rows follow, which successive
//! generations use in turn. A row contains the number of its generation, the number of events for which no slot was free, and [`SLOTS`]
//! slots. A slot has four words: kind and thread, number of registrations, number of runs, and number of runs on another thread.
#![expect(unsafe_code, reason = "maps a file that the host reads")]

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::errors;

const ROWS: usize = 16;
/// Slots per row.
const SLOTS: usize = 64;
const SLOT_WORDS: usize = 4;
const ROW_WORDS: usize = 2 + SLOTS * SLOT_WORDS;
const WORDS: usize = 1 + ROWS * ROW_WORDS;

/// Row of this generation, or null while counting is disabled.
static ROW: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// Kind of counted object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A thread-local.
    Local = 1,
    /// A thread-local that owns memory.
    Owning = 2,
    /// A thread-local whose destructor creates a [`Kind::Late`].
    Chained = 3,
    /// A thread-local that is first used while destructors run.
    Late = 4,
    /// The value of a thread-specific key.
    Key = 5,
    /// An exit handler.
    Exit = 6,
    /// A value whose destructor never runs, an intentional fault that the host must report.
    Nothing = 7,
}

/// Opens the host's file, and selects the next row for this generation.
pub(crate) fn open(path: &str) {
    let file = match File::options().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) => return errors::add(format!("{path}: {error}")),
    };
    let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
    // SAFETY: new pages at any address affect no other mapping; the file is open, and the host made it long enough.
    let pages = unsafe { libc::mmap(null_mut(), WORDS * size_of::<u64>(), protection, libc::MAP_SHARED, fd, 0) };
    if pages == libc::MAP_FAILED {
        return errors::add(format!("{path} cannot be mapped"));
    }
    let words = pages.cast::<AtomicU64>();
    // SAFETY: the file begins with the counter.
    let generation = unsafe { &*words }.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: the row is within the file.
    let row = unsafe { words.add(1 + (generation as usize % ROWS) * ROW_WORDS) };
    for at in 0..ROW_WORDS {
        word(row, at).store(0, Ordering::Relaxed);
    }
    word(row, 0).store(generation, Ordering::Relaxed);
    ROW.store(row, Ordering::Release);
}

/// Registers a value whose destructor never runs.
pub(crate) fn register_nothing() {
    std::mem::forget(Counted::new(Kind::Nothing));
}

/// A value whose creation and drop are counted.
#[derive(Debug)]
pub(crate) struct Counted {
    kind: Kind,
    thread: u64,
}

impl Counted {
    /// Registers a value on the calling thread.
    pub(crate) fn new(kind: Kind) -> Self {
        let thread = this_thread();
        count(kind, thread, 1);
        Self { kind, thread }
    }

    /// Counts a run of the destructor or handler.
    pub(crate) fn run(&self) {
        count(self.kind, self.thread, 2);
        if this_thread() != self.thread {
            count(self.kind, self.thread, 3);
        }
    }

    /// Does nothing. The access initializes the thread-local or static that contains the value.
    pub(crate) fn touch(&self) {}
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.run();
    }
}

fn this_thread() -> u64 {
    // SAFETY: the function has no parameters and always succeeds.
    unsafe { libc::gettid() }.unsigned_abs().into()
}

/// Increments the word `column` in the slot of this kind and thread.
fn count(kind: Kind, thread: u64, column: usize) {
    let row = ROW.load(Ordering::Acquire);
    if row.is_null() {
        return;
    }
    let tag = (kind as u64) << 32 | thread;
    for slot in 0..SLOTS {
        let at = 2 + slot * SLOT_WORDS;
        let owner = match word(row, at).compare_exchange(0, tag, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => tag,
            Err(owner) => owner,
        };
        if owner == tag {
            word(row, at + column).fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
    word(row, 1).fetch_add(1, Ordering::Relaxed);
}

fn word(row: *mut AtomicU64, at: usize) -> &'static AtomicU64 {
    debug_assert!(at < ROW_WORDS);
    // SAFETY: `row` is a row of a mapped file, which no code of this module unmaps; the word is within the row.
    let word = unsafe { row.add(at) };
    // SAFETY: the counter is within a row of a mapped file. All code accesses the counters of the file as atomics.
    unsafe { &*word }
}
