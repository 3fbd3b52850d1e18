//! Destructors of thread-locals, and of values that images store under `pthread` keys, on all threads.
//!
//! Destructors of modules are not registered with the C library. The C library would count such destructors as uses of the image, or would
//! call the destructors after the image is unmapped. Instead, the host *arms* a thread with pending destructors: the C library calls
//! functions of the host at the end of the thread. These functions run the remaining destructors. If the image ends first, its destructors
//! run earlier, but always on the thread of the thread-local.
//!
//! Locks: the thread list of an image and the destructor list of a thread are never locked together. Neither list is locked while code of a
//! module runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::c::callbacks::{self, Destructor, OfValues, OwnKey, Promised};
use super::c::kernel;
use super::names::describe_thread;
use super::started::Started;
use super::{altstack, evict, lock};
use crate::ledger::plan::{Facts, Step};
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "a destructor of a thread-local",
    counts: |image, counts| {
        let locals = &image.records.locals;
        counts.thread_locals_registered = locals.registered.load(Ordering::SeqCst);
        counts.thread_locals_run = locals.run.load(Ordering::SeqCst);
        counts.thread_locals_forgotten = locals.forgotten.load(Ordering::SeqCst);
        counts.keys = lock(&locals.keys).len() as u64;
    },
    holders: |image, all| all.extend(image.records.locals.holders(image)),
    facts: |image, facts| image.records.locals.add_facts(image, facts),
    act: |image, step, report| {
        if step == Step::RunThreadLocals {
            report.thread_locals_run += run_here(|other| other.is(image));
        }
    },
    free: |gone, report| report.keys = gone.image().records.locals.forget(gone.image()),
    ..Repair::NONE
};

/// Number of passes over the values of keys at the end of a thread, as in the C library.
const ROUNDS: u32 = 4;

/// Maximum number of destructors that one call runs. A higher number indicates that destructors register further destructors without end.
const MOST: u64 = 1 << 20;

thread_local! {
    /// Record of this thread. `None` until the thread has pending destructors. This thread-local has no destructor and is accessible until
    /// the very end of the thread.
    static HERE: ManuallyDrop<RefCell<Option<Arc<Record>>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Key of the host whose destructor is [`at_last`]. The C library therefore calls `at_last` at the end of each armed thread.
static LAST_KEY: OnceLock<OwnKey> = OnceLock::new();

pub(super) struct Record {
    tid: i32,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    /// Destructors in the order of their registration.
    waiting: Vec<Waiting>,
    running: Vec<Running>,
    armed: bool,
    started: Option<Arc<Started>>,
}

struct Waiting {
    ledger: Arc<Ledger>,
    kind: Kind,
    since: Instant,
}

enum Kind {
    Local(Promised<Destructor>),
    /// Key that has a non-null value on this thread, with its destructor. The C library stores the value.
    Value(c_uint, OfValues),
}

struct Running {
    ledger: Arc<Ledger>,
    since: Instant,
    address: usize,
}

/// If the calling thread is dropping a thread-local of an image, calls `see` with the label of the image. This function neither allocates
/// nor blocks.
pub(super) fn with_dropped_here(see: impl FnOnce(&str)) {
    HERE.with(|here| {
        let Ok(here) = here.try_borrow() else { return };
        let Some(Ok(pending)) = here.as_ref().map(|record| record.pending.try_lock()) else { return };
        if let Some(running) = pending.running.last() {
            see(running.ledger.label());
        }
    });
}

#[derive(Default)]
pub(super) struct Locals {
    /// Threads on which the image has pending destructors, or had destructors that already ran.
    threads: Mutex<Vec<Arc<Record>>>,
    /// Keys of the image, each with its destructor.
    keys: Mutex<BTreeMap<c_uint, Option<OfValues>>>,
    registered: AtomicU64,
    run: AtomicU64,
    forgotten: AtomicU64,
}

impl Locals {
    pub(super) fn register(&self, ledger: Arc<Ledger>, destructor: Promised<Destructor>) {
        self.add(ledger, &Record::here(), Kind::Local(destructor));
    }

    /// Adds a pending destructor to the calling thread. `record` is the record of the calling thread.
    fn add(&self, ledger: Arc<Ledger>, record: &Arc<Record>, kind: Kind) {
        self.add_record(record);
        record.arm();
        self.registered.fetch_add(1, Ordering::Relaxed);
        lock(&record.pending).waiting.push(Waiting { ledger, kind, since: Instant::now() });
    }

    /// Creates a key without registering its destructor in the C library. Returns the error number of the C function on failure.
    pub(super) fn create_key(&self, destructor: Option<OfValues>) -> Result<c_uint, c_int> {
        let key = callbacks::make_key()?;
        lock(&self.keys).insert(key, destructor);
        Ok(key)
    }

    /// Deletes a key by calling `delete`. Like the C function, does not run destructors on the values of the key.
    pub(super) fn delete_key(&self, key: c_uint, delete: impl FnOnce() -> c_int) -> c_int {
        lock(&self.keys).remove(&key);
        let threads = lock(&self.threads).clone();
        for record in threads {
            self.discard(&record, |waiting| waiting.key() == Some(key));
        }
        delete()
    }

    /// Sets the value of a key on this thread by calling `set`. A non-null value makes the key's destructor pending.
    pub(super) fn set_value(
        &self,
        ledger: Arc<Ledger>,
        key: c_uint,
        is_null: bool,
        set: impl FnOnce() -> c_int,
    ) -> c_int {
        let result = set();
        let known = lock(&self.keys).get(&key).copied().flatten();
        let (0, Some(destructor)) = (result, known) else { return result };
        let record = Record::here();
        let is_of_key = |waiting: &Waiting| waiting.key() == Some(key);
        if is_null {
            self.discard(&record, is_of_key);
        } else if !lock(&record.pending).waiting.iter().any(is_of_key) {
            self.add(ledger, &record, Kind::Value(key, destructor));
        }
        result
    }

    fn add_facts(&self, ledger: &Ledger, facts: &mut Facts) {
        for record in self.live_records() {
            let pending = lock(&record.pending);
            let waits = pending.waits_for(ledger);
            let runs = pending.running.iter().any(|running| running.ledger.is(ledger));
            let may_run = record.is_here() && pending.running.is_empty();
            facts.locals_here |= may_run && waits;
            facts.locals_elsewhere |= !may_run && waits || runs;
        }
    }

    fn holders(&self, ledger: &Ledger) -> Vec<Holder> {
        self.live_records().into_iter().filter_map(|record| record.holder(ledger)).collect()
    }

    /// Discards the remaining destructors of an unmapped image without running them, and deletes the keys of the image. Returns the number
    /// of discarded destructors.
    fn forget(&self, ledger: &Ledger) -> u64 {
        let threads = std::mem::take(&mut *lock(&self.threads));
        for record in threads {
            self.discard(&record, |waiting| waiting.ledger.is(ledger));
        }
        let keys = std::mem::take(&mut *lock(&self.keys));
        for key in keys.keys() {
            callbacks::delete_key(*key);
        }
        keys.len() as u64
    }

    /// Discards the selected destructors of a thread without running them.
    fn discard(&self, record: &Record, is_dropped: impl Fn(&Waiting) -> bool) {
        let count = lock(&record.pending).waiting.extract_if(.., |waiting| is_dropped(waiting)).count() as u64;
        self.forgotten.fetch_add(count, Ordering::Relaxed);
    }

    /// Records that a thread has pending destructors of this image.
    fn add_record(&self, record: &Arc<Record>) {
        let mut threads = lock(&self.threads);
        if !threads.iter().any(|known| Arc::ptr_eq(known, record)) {
            threads.push(Arc::clone(record));
        }
    }

    /// Removes a thread on which this image has no more pending destructors.
    fn remove_record(&self, record: &Record) {
        lock(&self.threads).retain(|known| !ptr::eq(Arc::as_ptr(known), record));
    }

    /// Returns the threads with pending destructors. Removes threads that ended by a direct system call, which skips the destructors.
    fn live_records(&self) -> Vec<Arc<Record>> {
        let threads = lock(&self.threads).clone();
        let (live, vanished): (Vec<_>, Vec<_>) =
            threads.into_iter().partition(|record| record.is_here() || kernel::thread_exists(record.tid));
        for record in vanished {
            self.discard(&record, |_| true);
            lock(&record.pending).running.clear();
            self.remove_record(&record);
        }
        live
    }
}

impl Record {
    /// Returns the record of the calling thread. Returns `None` if the thread has never had pending destructors.
    fn existing() -> Option<Arc<Self>> {
        HERE.with(|here| here.borrow().clone())
    }

    /// Returns the record of the calling thread, creating it if necessary.
    fn here() -> Arc<Self> {
        Self::existing().unwrap_or_else(|| {
            let record = Arc::new(Self { tid: kernel::own_tid(), pending: Mutex::default() });
            HERE.with(|here| *here.borrow_mut() = Some(Arc::clone(&record)));
            record
        })
    }

    fn is_here(&self) -> bool {
        HERE.with(|here| here.borrow().as_deref().is_some_and(|here| ptr::eq(here, self)))
    }

    /// Registers two callbacks for the end of this thread, one before and one after the destruction of its thread-locals.
    fn arm(&self) {
        let is_armed = std::mem::replace(&mut lock(&self.pending).armed, true);
        if !is_armed && !callbacks::at_thread_end(at_end) {
            lock(&self.pending).armed = false; // on failure (no memory), the key below still works
        }
        LAST_KEY.get_or_init(|| OwnKey::new(at_last)).set(ptr::from_ref(self).addr());
    }

    fn holder(&self, ledger: &Ledger) -> Option<Holder> {
        let pending = lock(&self.pending);
        let running = pending.running.iter().find(|running| running.ledger.is(ledger));
        let waiting = pending.waiting.iter().filter(|waiting| waiting.ledger.is(ledger));
        let waiting: Vec<_> = waiting.map(|waiting| (waiting.since, waiting.address())).collect();
        let (name, (since, address)) = match (running, waiting.first()) {
            (Some(running), _) => ("a running thread-local destructor".to_owned(), (running.since, running.address)),
            (None, Some(first)) if waiting.len() == 1 => ("a thread-local destructor".to_owned(), *first),
            (None, Some(first)) => (format!("{} thread-local destructors", waiting.len()), *first),
            (None, None) => return None,
        };
        drop(pending);
        let holder = Holder::new(HolderKind::ThreadLocal, name, since).on(describe_thread(self.tid));
        Some(Holder { address: Some(address), ..holder })
    }

    /// Runs the pending destructors of the chosen images on the calling thread, which must own the record. First runs the destructors of
    /// thread-locals, then the destructors of key values. Repeats both steps while destructors are pending.
    fn run_pending(&self, chosen: impl Fn(&Ledger) -> bool) -> u64 {
        let mut ran = 0;
        let mut touched: Vec<Arc<Ledger>> = Vec::new();
        for _ in 0..ROUNDS {
            let is_local = |waiting: &Waiting| waiting.key().is_none() && chosen(&waiting.ledger);
            while ran < MOST && self.run_one(|all| all.iter().rposition(is_local), &mut touched) {
                ran += 1;
            }
            let keys = self.keys(&chosen);
            if keys.is_empty() {
                break;
            }
            for key in keys {
                let find = |all: &[Waiting]| all.iter().position(|waiting| waiting.key() == Some(key));
                ran += u64::from(self.run_one(find, &mut touched));
            }
        }
        for ledger in touched {
            let pending = lock(&self.pending);
            let busy = pending.waits_for(&ledger) || pending.running.iter().any(|running| running.ledger.is(&ledger));
            drop(pending);
            if !busy {
                ledger.records.locals.remove_record(self);
            }
        }
        ran
    }

    /// Runs the destructor that `find` selects. Moves the destructor from `waiting` to `running` under one lock, so that at every moment
    /// one of the lists keeps the image mapped. Returns `false` if `find` selects no destructor.
    fn run_one(&self, find: impl FnOnce(&[Waiting]) -> Option<usize>, touched: &mut Vec<Arc<Ledger>>) -> bool {
        let mut pending = lock(&self.pending);
        let Some(at) = find(&pending.waiting) else { return false };
        let waiting = pending.waiting.remove(at);
        let (ledger, address) = (Arc::clone(&waiting.ledger), waiting.address());
        pending.running.push(Running { ledger, since: Instant::now(), address });
        drop(pending);
        if !touched.iter().any(|known| Arc::ptr_eq(known, &waiting.ledger)) {
            touched.push(Arc::clone(&waiting.ledger));
        }
        match waiting.kind {
            Kind::Local(destructor) => destructor.call(),
            Kind::Value(key, destructor) => destructor.destroy(key),
        }
        self.has_run();
        true
    }

    /// Returns the keys with pending values of the chosen images.
    fn keys(&self, chosen: impl Fn(&Ledger) -> bool) -> Vec<c_uint> {
        lock(&self.pending).waiting.iter().filter(|waiting| chosen(&waiting.ledger)).filter_map(Waiting::key).collect()
    }

    fn has_run(&self) {
        let done = lock(&self.pending).running.pop();
        if let Some(done) = done {
            done.ledger.records.locals.run.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Pending {
    fn waits_for(&self, ledger: &Ledger) -> bool {
        self.waiting.iter().any(|waiting| waiting.ledger.is(ledger))
    }
}

impl Waiting {
    /// Returns the key of a thread-specific value. Returns `None` for a thread-local.
    fn key(&self) -> Option<c_uint> {
        match self.kind {
            Kind::Local(_) => None,
            Kind::Value(key, _) => Some(key),
        }
    }

    fn address(&self) -> usize {
        match &self.kind {
            Kind::Local(destructor) => destructor.address(),
            Kind::Value(_, destructor) => destructor.address(),
        }
    }
}

/// Restores the alternate stack of the calling thread and runs its pending destructors, for the chosen images. Returns the number of
/// destructors. Runs no destructor while another destructor runs on the calling thread. The running destructor may borrow other
/// thread-locals, and may call a function of the host that continues an unload or runs a checkpoint.
pub(super) fn run_here(chosen: impl Fn(&Ledger) -> bool) -> u64 {
    altstack::restore(&chosen);
    let here = Record::existing().filter(|here| lock(&here.pending).running.is_empty());
    here.map_or(0, |here| here.run_pending(chosen))
}

/// Discards the calling thread's pending destructors of an image without running them. Used after an eviction has skipped stack frames of
/// the image. A skipped frame may still borrow a thread-local, so that the destructor would panic and end the process.
pub(super) fn forget_here(ledger: &Ledger) {
    if let Some(here) = Record::existing() {
        let locals = &ledger.records.locals;
        locals.discard(&here, |waiting| waiting.ledger.is(ledger));
        locals.remove_record(&here);
    }
}

/// Checks if the calling thread has thread-locals of images whose destructors have not run.
pub(crate) fn has_thread_locals_here() -> bool {
    Record::existing().is_some_and(|record| !lock(&record.pending).waiting.is_empty())
}

pub(super) fn arm_here() {
    Record::here().arm();
}

/// Records that the calling thread is the thread described by `started`, and registers callbacks for the end of the thread.
pub(super) fn become_started(started: Arc<Started>) {
    let record = Record::here();
    record.arm();
    lock(&record.pending).started = Some(started);
}

/// Returns the [`Started`] record of the calling thread, if an image has started the thread. Returns `None` after the thread has
/// permanently left the image's code.
pub(super) fn started_here() -> Option<Arc<Started>> {
    lock(&Record::existing()?.pending).started.clone()
}

/// Callback that runs first at the end of a thread, while the host's own thread-locals still exist.
extern "C" fn at_end(_object: *mut c_void) {
    if let Some(here) = Record::existing() {
        lock(&here.pending).armed = false;
        end_here();
    }
}

/// Callback that runs last at the end of a thread, when only values of keys are left. A destructor that is registered later arms the thread
/// again.
extern "C" fn at_last(_value: *mut c_void) {
    end_here();
    let here = HERE.with(|here| here.take());
    drop(here);
}

/// Runs all pending destructors of the calling thread, and reports that the thread has left its image.
pub(super) fn end_here() {
    // Calls `leave` here too, because a start routine that exits by `pthread_exit` skips the call of `leave` after the routine.
    evict::leave();
    altstack::restore(|_| true);
    let Some(here) = Record::existing() else { return };
    // Runs destructors even inside a destructor that has called `pthread_exit`, because the rest of that destructor is skipped.
    here.run_pending(|_| true);
    // Takes the record, so that the end of the thread is reported only once.
    let started = lock(&here.pending).started.take();
    if let Some(started) = started {
        started.ends();
    }
}
