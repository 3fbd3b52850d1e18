//! What one image has put into the process: thread-local destructors, threads, memory, handlers, descriptors. The hooks
//! of the module tell it here as it happens, so that an ending knows what to run, what to wait for and what to free.
//!
//! A ledger says what keeps its image and never decides anything: [`Ending`](crate::Ending) does.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) mod disposition;
pub(crate) mod plan;
pub(crate) mod repair;

use std::collections::HashSet;
use std::ffi::c_void;
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::end_report::{EndReport, ReferenceSearch};
use crate::imp::{Mapping, REPAIRS, Records};
use crate::lock;
use crate::reference::Look;
use plan::{Facts, Step};
use repair::{Gone, Repair};

/// The number of images that are about to go.
static ENDING: AtomicUsize = AtomicUsize::new(0);

/// Checks if any image is about to go.
pub(crate) fn is_any_ending() -> bool {
    ENDING.load(Ordering::Relaxed) != 0
}

/// The records of one image. Any thread may ask.
///
/// The image finds its ledger by [`Ledger::word`], so the ledger must live as long as the image is mapped:
/// [`Image::map`](crate::Image::map) takes a share of it and leaks that with an image that is parked.
pub struct Ledger {
    label: String,
    stop: AtomicU32,
    ending: AtomicBool,
    repairs: &'static [Repair],
    /// Things of the image without a repair, and since when.
    unrepaired: Mutex<Vec<(&'static str, Instant)>>,
    /// The reference from outside that the last search has found.
    outside: Mutex<Option<Holder>>,
    /// The image is being closed: registrations are refused.
    is_closing: AtomicBool,
    /// The functions that were refused since.
    refused: Mutex<Vec<String>>,
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
        Self::with(label, REPAIRS)
    }

    /// Makes an empty ledger for an image with these repairs only.
    pub(crate) fn with(label: &str, repairs: &'static [Repair]) -> Arc<Self> {
        repairs.iter().for_each(|repair| (repair.before)());
        Arc::new(Self {
            label: label.to_owned(),
            stop: AtomicU32::new(0),
            ending: AtomicBool::new(false),
            repairs,
            unrepaired: Mutex::default(),
            outside: Mutex::default(),
            is_closing: AtomicBool::new(false),
            refused: Mutex::default(),
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
        self.ends();
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
        let mut holders = Vec::new();
        self.repairs.iter().for_each(|repair| (repair.holders)(self, &mut holders));
        holders.extend(lock(&self.outside).clone());
        holders.extend(lock(&self.unrepaired).iter().map(|(name, since)| {
            let name = format!("{name}, for which this platform has no repair");
            Holder::new(HolderKind::Reference, name, *since)
        }));
        holders.sort_by_key(|holder| holder.since);
        holders
    }

    /// Runs the image's thread-local destructors of the calling thread, last registered first, and again as long as
    /// they register more. Returns how many ran.
    pub fn run_thread_locals_here(&self) -> u64 {
        let mut report = EndReport::default();
        self.act(Step::RunThreadLocals, &mut report);
        report.thread_locals_run
    }

    /// How much is on record.
    #[must_use]
    pub fn counts(&self) -> LedgerCounts {
        let mut counts = LedgerCounts::default();
        self.repairs.iter().for_each(|repair| (repair.counts)(self, &mut counts));
        counts
    }

    /// The image has been mapped, and its initialisers have run.
    pub(crate) fn is_mapped(self: &Arc<Self>, mapping: &Mapping) {
        self.repairs.iter().for_each(|repair| (repair.is_mapped)(self, mapping));
    }

    fn ends(&self) {
        self.repairs.iter().for_each(|repair| (repair.ends)(self));
    }

    /// Collects the facts that decide on the next step of the image's ending.
    pub(crate) fn facts(&self, may_evict: bool) -> Facts {
        let mut facts = Facts { outside: !lock(&self.unrepaired).is_empty(), ..Facts::default() };
        self.repairs.iter().for_each(|repair| (repair.facts)(self, &mut facts));
        facts.may_evict &= may_evict;
        // These looks cost more than all the others, and what is yet to run may change what they find.
        let is_last = facts.next() == Step::Close;
        let outside = if is_last { self.repairs.iter().find_map(|repair| (repair.outside)(self)) } else { None };
        facts.outside |= outside.is_some();
        *lock(&self.outside) = outside;
        facts
    }

    /// Does a step of the ending, and notes in the report what that was.
    pub(crate) fn act(&self, step: Step, report: &mut EndReport) {
        self.repairs.iter().for_each(|repair| (repair.act)(self, step, report));
    }

    /// Leads elsewhere, or takes back, what the process still has of the image and what can be undone: just before it is
    /// closed.
    pub(crate) fn put_right(&self, report: &mut EndReport) {
        let is_ours = self.records.is_ours(self);
        self.repairs.iter().for_each(|repair| (repair.put_right)(self, &is_ours, report));
    }

    /// Searches memory for references to the image or its memory, if the policy wants that and the platform can.
    pub(crate) fn look(&self, search: ReferenceSearch, path: &Path) -> Option<(Look, HashSet<usize>)> {
        self.repairs.iter().find_map(|repair| (repair.look)(self, search, path))
    }

    /// The image is closed next.
    pub(crate) fn leaves(&self) {
        self.repairs.iter().for_each(|repair| (repair.leaves)(self));
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// The image was closed and is still there: other code has a share of it, so no finaliser has run.
    pub(crate) fn stays(&self) {
        self.is_closing.store(false, Ordering::SeqCst);
        self.tell_refused();
    }

    /// Gives back what the image has left, and notes in the report what that was.
    pub(crate) fn free(&self, gone: &Gone<'_>, report: &mut EndReport) {
        self.repairs.iter().for_each(|repair| (repair.free)(gone, report));
        self.tell_refused();
    }

    /// Not said at once: the loader is at work then, and a log may be anybody's code.
    fn tell_refused(&self) {
        for function in mem::take(&mut *lock(&self.refused)) {
            tracing::warn!(
                target: "alcedo_sys::closing",
                image = self.label,
                function,
                "a finaliser has called this while its module was being closed: it was refused, or done with a copy"
            );
        }
    }

    /// From now on [`checkpoint`](crate::checkpoint) runs the image's destructors.
    pub(crate) fn begin_ending(&self) {
        self.ends();
        if !self.ending.swap(true, Ordering::SeqCst) {
            ENDING.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Nothing is left to run at a checkpoint, or it is not waited for any more.
    pub(crate) fn finish_ending(&self) {
        if self.ending.swap(false, Ordering::SeqCst) {
            ENDING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// For hooks and books.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
impl Ledger {
    /// Returns the number of this image in the books for all images.
    pub(crate) fn owner(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Checks if it is the ledger of the same image.
    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Checks if there is a repair for what the image leaves now. If there is none, the image stays.
    pub(crate) fn has_repair(&self, name: &'static str) -> bool {
        let has_it = self.repairs.len() == REPAIRS.len() || self.repairs.iter().any(|repair| repair.name == name);
        let mut unrepaired = if has_it { return true } else { lock(&self.unrepaired) };
        if !unrepaired.iter().any(|(known, _)| *known == name) {
            unrepaired.push((name, Instant::now()));
        }
        false
    }

    /// Checks if the image is being closed, so that a registration by `function` would be used when the image is gone. Notes
    /// that it is refused.
    pub(crate) fn refuses(&self, function: &str) -> bool {
        let is_closing = self.is_closing();
        let mut refused = if is_closing { lock(&self.refused) } else { return false };
        if !refused.iter().any(|known| known == function) {
            refused.push(function.to_owned());
        }
        true
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("label", &self.label).field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Holder {
    pub(crate) fn new(kind: HolderKind, name: impl Into<String>, since: Instant) -> Self {
        Self { kind, name: name.into(), thread: String::new(), since, place: None }
    }

    /// Adds a thread.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub(crate) fn on(self, thread: String) -> Self {
        Self { thread, ..self }
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
