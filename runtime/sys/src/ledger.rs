//! What one image has put into the process: thread-local destructors, threads, memory, handlers, descriptors. The hooks
//! of the module tell it here as it happens, so that an ending knows what to run, what to wait for and what to free.
//!
//! A ledger says what keeps its image and never decides anything: [`Ending`](crate::Ending) does.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) mod disposition;
pub(crate) mod plan;

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use crate::imp::Records;

/// The records of one image. Any thread may ask.
///
/// The image finds its ledger by [`Ledger::word`], so the ledger must live as long as the image is mapped:
/// [`Image::map`](crate::Image::map) takes a share of it and leaks that with an image that is parked.
pub struct Ledger {
    label: String,
    stop: AtomicU32,
    ending: AtomicBool,
    pub(crate) records: Records,
}

/// Something that keeps an image from being unmapped now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// What sort of thing it is.
    pub kind: HolderKind,
    /// What it is, in words: `thread "tokio-worker"`, `2 thread-local destructors`.
    pub name: String,
    /// The thread by name and number, or an empty text where none can be named.
    pub thread: String,
    /// Since when.
    pub since: Instant,
    /// An address in the image's code that shows where it comes from: the start routine, the destructor, the handler.
    pub place: Option<usize>,
}

/// What sort of thing keeps an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum HolderKind {
    /// A thread that the image started and that runs its code.
    Thread,
    /// Destructors of thread-locals that wait for their own thread, or run on it now.
    ThreadLocal,
    /// A handler of the image that runs now: a signal's, or a function that the C library calls on a thread of its own.
    Handler,
    /// A stream of the C library that leads to the image's memory.
    Stream,
    /// A word in memory that stays, which leads into the image: see [`Reference`](crate::Reference).
    Reference,
    /// An io_uring for which the kernel may write into the image's memory.
    Ring,
    /// The alternate signal stack of a thread that runs, which the image has set.
    SignalStack,
    /// A request that a thread of the C library works on, in memory of the image's.
    Request,
}

/// How much is on record. What is counted "so far" only grows; the rest is as of now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct LedgerCounts {
    /// Thread-local destructors registered so far, values of thread-specific keys included.
    pub thread_locals_registered: u64,
    /// Those of them that have run.
    pub thread_locals_run: u64,
    /// Those that never will: taken back by the module, or their thread has vanished without running them.
    pub thread_locals_forgotten: u64,
    /// Threads started so far.
    pub threads_started: u64,
    /// Those of them that have left the image's code for good.
    pub threads_ended: u64,
    /// Those that were led out of a blocking call against their will.
    pub threads_evicted: u64,
    /// Keys for thread-specific values, now.
    pub keys: u64,
    /// Signals that the image handles or has set to something, now.
    pub signals: u64,
    /// Exit handlers that have not run, now.
    pub exit_handlers: u64,
    /// Bytes mapped through `mmap` and its like, now.
    pub maps_bytes: u64,
    /// Bytes of the regions of the module's own heap, now, used or not.
    pub heap_bytes: u64,
    /// Bytes of the C heap, as they were asked for, now.
    pub c_heap_bytes: u64,
    /// Blocks of the C heap, now.
    pub c_heap_blocks: u64,
    /// File descriptors, now.
    pub fds: u64,
    /// Timers that are made or run, now.
    pub timers: u64,
    /// Processes that the image has started and that have not been waited for, now.
    pub children: u64,
}

impl Ledger {
    /// An empty ledger; `label` is how logs name the image.
    #[must_use]
    pub fn new(label: &str) -> Arc<Self> {
        Arc::new(Self {
            label: label.to_owned(),
            stop: AtomicU32::new(0),
            ending: AtomicBool::new(false),
            records: Records::new(),
        })
    }

    /// How logs name the image.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The word by which the hooks of the image know this ledger. It is good for as long as a share of the ledger is
    /// held, and an image that is mapped with it holds one.
    #[must_use]
    pub fn word(self: &Arc<Self>) -> *const c_void {
        Arc::as_ptr(self).cast()
    }

    /// What the threads of the image look at: not zero once they shall stop. Good for as long as [`Ledger::word`] is.
    #[must_use]
    pub fn stop_word(&self) -> *const AtomicU32 {
        &raw const self.stop
    }

    /// Requests that the threads of the image stop: sets the stop word and wakes those that wait on it as on a futex.
    pub fn ask_to_stop(&self) {
        self.records.ends(self);
        self.stop.store(1, Ordering::SeqCst);
        crate::imp::wake_all(&self.stop);
    }

    /// Whether the threads are asked to stop.
    #[must_use]
    pub fn is_asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst) != 0
    }

    /// What keeps the image now, the calling thread's own destructors included. Longest first.
    #[must_use]
    pub fn holders(&self) -> Vec<Holder> {
        let mut holders = self.records.holders(self);
        holders.sort_by_key(|holder| holder.since);
        holders
    }

    /// Runs the image's thread-local destructors of the calling thread, last registered first, and again as long as
    /// they register more. Returns how many ran.
    pub fn run_thread_locals_here(&self) -> u64 {
        self.records.run_thread_locals_here(self)
    }

    /// How much is on record.
    #[must_use]
    pub fn counts(&self) -> LedgerCounts {
        self.records.counts(self)
    }

    /// From now on [`checkpoint`](crate::checkpoint) runs the image's destructors.
    pub(crate) fn begin_ending(&self) {
        self.records.ends(self);
        if !self.ending.swap(true, Ordering::SeqCst) {
            crate::imp::ending_begins();
        }
    }

    /// Nothing is left to run at a checkpoint, or it is not waited for any more.
    pub(crate) fn finish_ending(&self) {
        if self.ending.swap(false, Ordering::SeqCst) {
            crate::imp::ending_is_over();
        }
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("label", &self.label).field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.thread.is_empty() {
            write!(f, " on thread {}", self.thread)?;
        }
        write!(f, ", for {:.1} s", self.since.elapsed().as_secs_f64())
    }
}
