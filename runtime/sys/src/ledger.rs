//! Records of the resources that one image has created in the process: thread-local destructors, threads, memory, handlers, descriptors.
//! The hooks of the module report each new resource to the ledger. When the image ends, its ending runs the destructors, waits for the
//! threads, and frees all other resources.
//!
//! A ledger lists the resources that keep its image mapped. [`Ending`](crate::Ending) selects the next step from this list.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) mod disposition;
pub(crate) mod plan;
pub(crate) mod repair;
pub(crate) mod uses;

use std::collections::{BTreeMap, BTreeSet, HashSet};
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
use crate::reference::SearchResult;
use plan::{Facts, Step};
use repair::{Gone, Repair};
use uses::{Use, Uses};

static ENDING: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn is_any_ending() -> bool {
    ENDING.load(Ordering::Relaxed) != 0
}

/// Records of one image. A ledger is usable on any thread.
///
/// The hooks of the image refer to the ledger by [`Ledger::word`], so the ledger must exist while the image is mapped.
/// [`Image::map`](crate::Image::map) therefore stores a reference to the ledger in the image. A parked image leaks this reference.
pub struct Ledger {
    label: String,
    stop: AtomicU32,
    ending: AtomicBool,
    repairs: &'static [Repair],
    /// Resources of the image that no repair handles, each with the time of its creation.
    unrepaired: Mutex<BTreeMap<&'static str, Instant>>,
    /// Reference from outside of the image, found by the last search.
    outside: Mutex<Option<Holder>>,
    /// `true` while the image is being closed. In this state, the ledger rejects registrations.
    is_closing: AtomicBool,
    /// Functions whose calls were rejected while the image was being closed.
    refused: Mutex<BTreeSet<String>>,
    /// First use of each kind of resource.
    pub(crate) uses: Uses,
    pub(crate) records: Records,
}

/// Resource that keeps an image mapped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Kind of resource.
    pub kind: HolderKind,
    /// Description: `thread "tokio-worker"`, `2 thread-local destructors`.
    pub name: String,
    /// Name and id of the thread. Empty for a resource without a thread.
    pub thread: String,
    /// Time of creation.
    pub since: Instant,
    /// Address in the image's code that identifies the resource: start routine, destructor or handler.
    pub address: Option<usize>,
}

/// Kind of resource that keeps an image mapped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum HolderKind {
    /// Thread that the image started. The thread still runs code of the image.
    Thread,
    /// Thread-local destructors that are pending or running on their own thread.
    ThreadLocal,
    /// Running function of the image: a handler of a signal, or a function that a thread of the C library calls.
    Handler,
    /// Stream of the C library that refers to the image's memory.
    Stream,
    /// Pointer into the image, in memory that outlives the image. See [`Reference`](crate::Reference).
    Reference,
    /// An io_uring whose requests may write into the image's memory.
    Ring,
    /// Alternate signal stack of a running thread, set by the image.
    SignalStack,
    /// Asynchronous request in the image's memory. A thread of the C library processes the request.
    Request,
}

/// Counters of the records. Counters described with "so far" never decrease. All other counters are current values.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct LedgerCounts {
    /// Thread-local destructors registered so far, including values of thread-specific keys.
    pub thread_locals_registered: u64,
    /// Thread-local destructors that have run.
    pub thread_locals_run: u64,
    /// Thread-local destructors that can no longer run: the module has removed them, or their thread has vanished.
    pub thread_locals_forgotten: u64,
    /// Threads started so far.
    pub threads_started: u64,
    /// Threads that have left the image's code permanently.
    pub threads_ended: u64,
    /// Threads that were forced out of a blocking call.
    pub threads_evicted: u64,
    /// Current keys for thread-specific values.
    pub keys: u64,
    /// Signals currently handled or changed by the image.
    pub signals: u64,
    /// Exit handlers that have not run yet.
    pub exit_handlers: u64,
    /// Bytes currently mapped through `mmap` and similar functions.
    pub maps_bytes: u64,
    /// Current bytes of the regions of the module's own heap, used or not.
    pub heap_bytes: u64,
    /// Current requested bytes of the C heap.
    pub c_heap_bytes: u64,
    /// Current blocks of the C heap.
    pub c_heap_blocks: u64,
    /// Current file descriptors.
    pub fds: u64,
    /// Current timers, created or running.
    pub timers: u64,
    /// Current child processes of the image: running processes, and exited processes that no code has waited for.
    pub children: u64,
}

impl Ledger {
    /// Creates an empty ledger. `label` is the name of the image in logs.
    #[must_use]
    pub fn new(label: &str) -> Arc<Self> {
        Self::with(label, REPAIRS)
    }

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
            uses: Uses::default(),
            records: Records::new(),
        })
    }

    /// Returns the name of the image in logs.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the address by which the hooks of the image refer to this ledger. The address is valid while any reference to the ledger
    /// exists. An image that is mapped with the ledger owns such a reference.
    #[must_use]
    pub fn word(self: &Arc<Self>) -> *const c_void {
        Arc::as_ptr(self).cast()
    }

    /// Returns the stop flag for the threads of the image, nonzero after a stop request. The pointer is valid as long as [`Ledger::word`].
    #[must_use]
    pub fn stop_word(&self) -> *const AtomicU32 {
        &raw const self.stop
    }

    /// Requests that the threads of the image stop: sets the stop flag, and wakes threads that wait on the flag as a futex.
    pub fn request_stop(&self) {
        self.ends();
        self.stop.store(1, Ordering::SeqCst);
        crate::imp::wake_all(&self.stop);
    }

    /// Returns `true` after a stop request.
    #[must_use]
    pub fn is_stop_requested(&self) -> bool {
        self.stop.load(Ordering::SeqCst) != 0
    }

    /// Returns the holders that keep the image mapped, including the calling thread's own destructors, oldest first.
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

    /// Runs the image's thread-local destructors of the calling thread, last registered first. Also runs destructors that these destructors
    /// register. Returns the number of destructors that ran.
    pub fn run_thread_locals_here(&self) -> u64 {
        let mut report = EndReport::default();
        self.act(Step::RunThreadLocals, &mut report);
        report.thread_locals_run
    }

    /// Returns the current counters.
    #[must_use]
    pub fn counts(&self) -> LedgerCounts {
        let mut counts = LedgerCounts::default();
        self.repairs.iter().for_each(|repair| (repair.counts)(self, &mut counts));
        counts
    }

    /// Returns the kinds of resources that the image has used so far, with the first use of each kind. Unlike [`Ledger::counts`], the list
    /// includes resources that the image has released.
    #[must_use]
    pub fn uses(&self) -> Vec<Use> {
        self.uses.all()
    }

    /// Notifies the repairs that the image was mapped and that its initializers have run.
    pub(crate) fn is_mapped(self: &Arc<Self>, mapping: &Mapping) {
        self.repairs.iter().for_each(|repair| (repair.is_mapped)(self, mapping));
    }

    fn ends(&self) {
        self.repairs.iter().for_each(|repair| (repair.ends)(self));
    }

    pub(crate) fn facts(&self, may_evict: bool) -> Facts {
        let mut facts = Facts { outside: !lock(&self.unrepaired).is_empty(), ..Facts::default() };
        self.repairs.iter().for_each(|repair| (repair.facts)(self, &mut facts));
        facts.may_evict &= may_evict;
        // Searches for references from outside only when the image is about to be closed. These searches are expensive, and code of the
        // image that runs after a search may change the result of the search.
        let is_last = facts.next() == Step::Close;
        let outside = if is_last { self.repairs.iter().find_map(|repair| (repair.outside)(self)) } else { None };
        facts.outside |= outside.is_some();
        *lock(&self.outside) = outside;
        facts
    }

    pub(crate) fn act(&self, step: Step, report: &mut EndReport) {
        self.repairs.iter().for_each(|repair| (repair.act)(self, step, report));
    }

    /// Lets all repairs redirect or remove references from the process to the image. Called directly before the image is closed.
    pub(crate) fn redirect_references(&self, report: &mut EndReport) {
        let is_ours = self.records.is_ours(self);
        self.repairs.iter().for_each(|repair| (repair.redirect_references)(self, &is_ours, report));
    }

    /// Searches memory for references to the image or its memory, if the policy requests the search and the platform supports it.
    pub(crate) fn search_memory(&self, search: ReferenceSearch, path: &Path) -> Option<(SearchResult, HashSet<usize>)> {
        self.repairs.iter().find_map(|repair| (repair.search)(self, search, path))
    }

    /// Notifies the repairs that the image is about to be closed.
    pub(crate) fn before_close(&self) {
        self.repairs.iter().for_each(|repair| (repair.before_close)(self));
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// Called if the image is still mapped after `dlclose`. In this case, other code still refers to the image, and no finalizer has run.
    pub(crate) fn close_failed(&self) {
        self.is_closing.store(false, Ordering::SeqCst);
        self.log_refused();
    }

    pub(crate) fn free(&self, gone: &Gone<'_>, report: &mut EndReport) {
        self.repairs.iter().for_each(|repair| (repair.free)(gone, report));
        self.log_refused();
    }

    /// Logs the calls of finalizers that were rejected. Called only after the image was closed, because a log listener may run arbitrary
    /// code, and the loader is active while the image is being closed.
    fn log_refused(&self) {
        let refused = mem::take(&mut *lock(&self.refused));
        for function in refused {
            log!(
                target: "alcedo_sys::closing",
                WARN,
                image = self.label,
                function,
                "a finalizer has called this while its module was being closed: it was refused, or done with a copy"
            );
        }
    }

    pub(crate) fn begin_ending(&self) {
        self.ends();
        self.run_at_checkpoints();
    }

    /// Makes [`checkpoint`](crate::checkpoint) run the destructors of the image's thread-locals, on every thread that calls `checkpoint`
    /// and was not started by the image. The host calls this function once the image is unused. An [`Ending`](crate::Ending) also calls
    /// this function.
    pub fn run_at_checkpoints(&self) {
        if !self.ending.swap(true, Ordering::SeqCst) {
            ENDING.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Stops [`checkpoint`](crate::checkpoint) from running destructors of the image. Called when no destructor is pending, or when the
    /// host no longer waits for destructors.
    pub fn finish_ending(&self) {
        if self.ending.swap(false, Ordering::SeqCst) {
            ENDING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Methods for hooks and records.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
impl Ledger {
    /// Returns the id that identifies this image as an owner in records shared by all images.
    pub(crate) fn owner(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Checks if the platform has a repair for the resource `name`. If not, records the resource as a holder, which keeps the image mapped.
    pub(crate) fn has_repair(&self, name: &'static str) -> bool {
        let has_it = self.repairs.len() == REPAIRS.len() || self.repairs.iter().any(|repair| repair.name == name);
        if !has_it {
            lock(&self.unrepaired).entry(name).or_insert_with(Instant::now);
        }
        has_it
    }

    /// Returns `true` if the image is being closed. A registration by `function` must then be rejected, because it would outlive the image.
    /// Records the rejection.
    pub(crate) fn refuses(&self, function: &str) -> bool {
        let is_closing = self.is_closing();
        if is_closing {
            lock(&self.refused).insert(function.to_owned());
        }
        is_closing
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
        Self { kind, name: name.into(), thread: String::new(), since, address: None }
    }

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
