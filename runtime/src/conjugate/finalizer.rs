//! Finalizer thread, the only thread that drops plugin parts of objects. Plugin code on this thread cannot access the engine, because host
//! functions reject calls from this thread.
//!
//! A finalizer that never returns blocks the thread permanently. Waits for the thread are bounded, and report the running finalizer and its
//! age. When the module of this finalizer is abandoned, a new thread continues with the remaining modules.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use alcedo_sys::process::describe_thread;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::conjugate::last_part::LastPart;
use crate::conjugate::pairs::Part;
use crate::handles::{ClassId, Generation, ModuleId};
use crate::lease::{Blocker, LeaseKind};
use crate::sync::lock;
use crate::watchdog::{Published, Source};

use self::worker::Worker;

mod worker;

const THREAD: &str = "alcedo-finalizer";

/// Stack size of the thread in bytes. Main threads usually have a stack of this size, so a recursive drop that succeeds on a main thread
/// also succeeds on the finalizer thread.
const STACK: usize = 8 << 20;

/// Maximum wait for a running finalizer when a host shuts down. Hanging finalizers were abandoned before this wait.
const LAST_DEADLINE: Duration = Duration::from_secs(5);

/// Failure of a finalizer. The plugin part counts as dropped, and the host continues.
#[derive(Clone, Debug)]
pub(crate) struct FinalizerFailure {
    pub module: Arc<str>,
    pub generation: Generation,
    pub error: CallError,
}

/// Plugin parts of one module, in the order of their finalizers. A batch is sent in one message. With one message per part, messages and
/// reference counts would cost more than most finalizers.
struct Batch {
    id: ModuleId,
    module: Arc<str>,
    generation: Generation,
    /// Classes of the parts, with their short paths.
    classes: Vec<(ClassId, Arc<str>)>,
    /// Parts, each with the index of its class.
    parts: Vec<(usize, LastPart)>,
}

/// Maximum number of parts in a batch. The finalizer thread processes a full batch while the game thread fills the next batch.
const MAX_BATCH: usize = 1024;

impl Batch {
    /// Creates an empty batch for the module of `first`, with memory for `room` parts.
    fn of(first: &Part, room: usize) -> Self {
        let tag = first.gate.tag();
        let (id, module, generation) = (tag.id, Arc::clone(&tag.name), tag.generation);
        Self { id, module, generation, classes: Vec::new(), parts: Vec::with_capacity(room) }
    }

    fn has_room_for(&self, part: &Part) -> bool {
        self.id == part.gate.tag().id && self.parts.len() < MAX_BATCH
    }

    fn push(&mut self, part: Part) {
        let known = self.classes.iter().rposition(|(class, _)| *class == part.class);
        let at = known.unwrap_or_else(|| {
            self.classes.push((part.class, Arc::clone(&part.names.short)));
            self.classes.len() - 1
        });
        self.parts.push((at, LastPart::from(part)));
    }
}

/// Function that the finalizer thread calls after the last part of a generation was dropped.
type LastWork = Box<dyn FnOnce() + Send>;

enum Message {
    Finalize(Batch),
    Mark(Sender<()>),
    Barrier(Generation, Vec<ModuleId>, LastWork, Sender<()>),
}

struct Running {
    class: Arc<str>,
    ids: Vec<ModuleId>,
    module: Arc<str>,
    generation: Generation,
    since: Instant,
    number: u64,
    /// Number of parts of the batch that are not yet dropped, including the current part.
    left: u64,
}

/// State shared by the finalizer thread and the code that waits for this thread.
#[derive(Default)]
struct Desk {
    /// System id of the current finalizer thread; `None` before the thread has started.
    number: Option<i32>,
    running: Option<Running>,
    /// Time when the last finalizer returned.
    last_end: Option<Instant>,
    begun: u64,
    /// Number of dropped parts, including parts whose finalizer failed.
    dropped: u64,
    /// Number of parts of abandoned modules that were not dropped, including a part whose finalizer hangs. If this finalizer returns, the
    /// part counts as dropped.
    skipped: u64,
    /// Number of the current finalizer thread. A thread with a different number was replaced.
    turn: u64,
    /// Abandoned modules, whose finalizers no longer run. The images of these modules stay mapped, so the remaining plugin parts stay
    /// valid.
    abandoned: BTreeSet<ModuleId>,
}

impl Desk {
    /// Returns the number of parts, among the first `sent` parts, that are running or queued.
    fn left_of(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.dropped + self.skipped)
    }
}

type Shared = Arc<Mutex<Desk>>;

/// Finalizer thread and its queue. Drops parts in the order in which they are sent.
pub(crate) struct Finalizer {
    /// Parts whose conjugates ended while plugin code was on the stack. Methods of these parts may still be running.
    waiting: RefCell<Vec<Part>>,
    /// Set while many objects are destroyed one after another; see [`Finalizer::batches`].
    fills_batches: Cell<bool>,
    /// Number of parts in the latest batch. The next batch mostly has as many.
    latest: Cell<usize>,
    sent: Cell<u64>,
    jobs: Option<Sender<Message>>,
    inbox: Receiver<Message>,
    report: Sender<FinalizerFailure>,
    failures: Receiver<FinalizerFailure>,
    desk: Shared,
    thread: RefCell<Option<JoinHandle<()>>>,
}

impl Finalizer {
    /// Starts the finalizer thread. Returns an error if the system cannot create a thread.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (jobs, inbox) = unbounded();
        let (report, failures) = unbounded();
        let (waiting, fills_batches, latest, sent, desk, thread) = Default::default();
        let this =
            Self { waiting, fills_batches, latest, sent, jobs: Some(jobs), inbox, report, failures, desk, thread };
        this.spawn(0)?;
        Ok(this)
    }

    /// Starts a thread with this turn number, and detaches the previous thread.
    fn spawn(&self, turn: u64) -> std::io::Result<()> {
        let worker = Worker::new(self.inbox.clone(), self.report.clone(), self.desk.clone(), turn);
        let thread = std::thread::Builder::new().name(THREAD.into()).stack_size(STACK).spawn(move || worker.run())?;
        drop(self.thread.replace(Some(thread)));
        Ok(())
    }

    /// Defers the parts that `release` appends. Methods of these parts may be on the stack. [`Finalizer::release`] later sends the parts to
    /// the thread.
    pub(crate) fn defer(&self, release: impl FnOnce(&mut Vec<Part>)) {
        release(&mut self.waiting.borrow_mut());
    }

    /// Sends the deferred parts to the finalizer thread. The caller must be at a safe point, with no method of a deferred part on the
    /// stack.
    pub(crate) fn release(&self) {
        let mut waiting = self.waiting.take();
        self.finalize(waiting.drain(..));
        // The parts of the next batch use the same memory.
        if self.fills_batches.get() {
            *self.waiting.borrow_mut() = waiting;
        }
    }

    /// Until the returned guard is dropped, collects the parts of destroyed objects, and sends the parts to the thread in full batches. The
    /// caller must be at a safe point.
    pub(crate) fn batches(&self) -> Batches<'_> {
        self.fills_batches.set(true);
        Batches(self)
    }

    /// Sends the parts that `release` appends, which are the parts of a destroyed object, to the thread, or adds the parts to the current
    /// batch. No method of the parts may be on the stack.
    pub(crate) fn end(&self, release: impl FnOnce(&mut Vec<Part>)) {
        let mut waiting = self.waiting.borrow_mut();
        let before = waiting.len();
        release(&mut waiting);
        if !self.fills_batches.get() {
            return self.finalize(waiting.drain(before..));
        }
        let is_full = waiting.len() >= MAX_BATCH;
        drop(waiting);
        if is_full {
            self.release();
        }
    }

    /// Sends the parts of an object to the finalizer thread, derived before base. The conjugate of the parts must have ended, and no method
    /// of the parts may be on the stack.
    pub(crate) fn finalize(&self, parts: impl IntoIterator<Item = Part>) {
        self.ended_parts().extend(parts);
    }

    /// Returns a value to which the caller adds parts as to [`Finalizer::finalize`], one conjugate after another.
    pub(crate) fn ended_parts(&self) -> EndedParts<'_> {
        EndedParts { finalizer: self, batch: None }
    }

    /// Queues a barrier after the parts of `modules` that were sent before this call. The modules are unloaded in `generation`. The thread
    /// runs `last` just before it passes the barrier.
    pub(crate) fn barrier(
        &self,
        generation: Generation,
        modules: Vec<ModuleId>,
        last: impl FnOnce() + Send + 'static,
    ) -> Barrier {
        self.queue_barrier(|done| Message::Barrier(generation, modules, Box::new(last), done))
    }

    /// Queues a barrier after all parts that were sent so far. The host does not block on this barrier, and continues even if the thread
    /// never passes the barrier.
    pub(crate) fn mark(&self) -> Barrier {
        self.queue_barrier(Message::Mark)
    }

    fn queue_barrier(&self, message: impl FnOnce(Sender<()>) -> Message) -> Barrier {
        let (done, passed) = bounded(1);
        self.send(message(done));
        Barrier { passed, desk: self.desk.clone(), sent: self.sent.get(), begun: Instant::now() }
    }

    /// Prevents further finalizers of `modules`. If a finalizer of these modules is running, replaces the finalizer thread: a new thread
    /// continues with the remaining modules. The images of `modules` must stay mapped.
    pub(crate) fn abandon(&self, modules: &[ModuleId]) {
        let mut desk = lock(&self.desk);
        desk.abandoned.extend(modules);
        if desk.running.as_ref().is_none_or(|running| !running.ids.iter().any(|id| modules.contains(id))) {
            return;
        }
        let left = desk.running.take().map_or(0, |running| running.left);
        desk.skipped += left;
        desk.turn += 1;
        let turn = desk.turn;
        drop(desk);
        if let Err(error) = self.spawn(turn) {
            log!(ERROR, %error, "no thread can replace the hanging finalizer thread: plugin parts are no longer finalized");
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        lock(&self.desk).dropped
    }

    /// Returns the number of parts that are not yet dropped: running, queued and deferred parts, and parts of abandoned modules.
    pub(crate) fn pending(&self) -> u64 {
        self.sent.get() - self.dropped() + self.waiting.borrow().len() as u64
    }

    /// Returns the number of parts that the thread will drop: [`Finalizer::pending`] minus the parts of abandoned modules.
    pub(crate) fn queued(&self) -> u64 {
        lock(&self.desk).left_of(self.sent.get()) + self.waiting.borrow().len() as u64
    }

    pub(crate) fn running(&self) -> Option<Blocker> {
        let desk = lock(&self.desk);
        desk.running.as_ref().map(|running| blocker(running.name(), desk.number, running.since.elapsed()))
    }

    /// Checks if the current finalizer has run for at least `grace`.
    pub(crate) fn hangs(&self, grace: Duration) -> bool {
        lock(&self.desk).running.as_ref().is_some_and(|running| running.since.elapsed() >= grace)
    }

    pub(crate) fn failures(&self) -> Vec<FinalizerFailure> {
        self.failures.try_iter().collect()
    }

    /// Returns the source from which the watchdog reads the activities of the thread.
    pub(crate) fn source(&self) -> Source {
        let desk = self.desk.clone();
        let activity = move || {
            let desk = lock(&desk);
            let running = desk.running.iter();
            running.map(|job| Published::call(job.number, &job.module, &format!("Drop of {}", job.class))).collect()
        };
        Source { thread: "finalizer thread", activity: Box::new(activity) }
    }

    fn send_batch(&self, batch: Batch) {
        self.latest.set(batch.parts.len());
        self.send(Message::Finalize(batch));
    }

    fn send(&self, message: Message) {
        if let Some(jobs) = &self.jobs {
            // Cannot fail: `self` holds a receiver.
            let _sent = jobs.send(message);
        }
    }
}

impl Drop for Finalizer {
    fn drop(&mut self) {
        self.jobs = None;
        let Some(thread) = self.thread.take() else { return };
        let until = Instant::now() + LAST_DEADLINE;
        while !thread.is_finished() {
            if Instant::now() >= until {
                let running = lock(&self.desk).running.as_ref().map(Running::name);
                log!(ERROR, running, "the host ends without the finalizer thread, which does not return");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ended = thread.join();
    }
}

/// Sends added parts to the finalizer thread in batches. Dropping this value sends the last batch.
pub(crate) struct EndedParts<'a> {
    finalizer: &'a Finalizer,
    batch: Option<Batch>,
}

impl Extend<Part> for EndedParts<'_> {
    fn extend<I: IntoIterator<Item = Part>>(&mut self, parts: I) {
        let Self { finalizer, batch } = self;
        for part in parts {
            finalizer.sent.set(finalizer.sent.get() + 1);
            if let Some(full) = batch.take_if(|batch| !batch.has_room_for(&part)) {
                finalizer.send_batch(full);
            }
            batch.get_or_insert_with(|| Batch::of(&part, finalizer.latest.get())).push(part);
        }
    }
}

impl Drop for EndedParts<'_> {
    fn drop(&mut self) {
        if let Some(last) = self.batch.take() {
            self.finalizer.send_batch(last);
        }
    }
}

/// Scope in which the parts of many objects are sent in batches.
pub(crate) struct Batches<'a>(&'a Finalizer);

impl Drop for Batches<'_> {
    fn drop(&mut self) {
        self.0.fills_batches.set(false);
        self.0.release();
    }
}

/// Barrier in the queue of the finalizer thread. Can be used on any thread.
pub(crate) struct Barrier {
    passed: Receiver<()>,
    desk: Shared,
    /// Number of parts that were sent before the barrier.
    sent: u64,
    begun: Instant,
}

impl Barrier {
    /// Checks if all parts that were sent before this barrier are dropped. Returns `true` only once.
    pub(crate) fn is_passed(&self) -> bool {
        self.passed.try_recv().is_ok()
    }

    /// Checks if the thread makes progress: the current finalizer began less than `grace` ago. If no finalizer is running, checks if
    /// the last finalizer returned less than `grace` ago, or if the barrier was queued less than `grace` ago.
    pub(crate) fn is_moving(&self, grace: Duration) -> bool {
        let desk = lock(&self.desk);
        let idle_since = || desk.last_end.map_or(self.begun, |end| end.max(self.begun));
        desk.running.as_ref().map_or_else(idle_since, |running| running.since).elapsed() < grace
    }

    /// Returns the finalizer that blocks the barrier.
    pub(crate) fn blocker(&self) -> Blocker {
        let desk = lock(&self.desk);
        let (mut owner, age) = match &desk.running {
            Some(running) => (running.name(), running.since.elapsed()),
            None => ("the next in the queue".to_owned(), self.begun.elapsed()),
        };
        let (number, left) = (desk.number, desk.left_of(self.sent));
        drop(desk);
        if left > 1 {
            owner.push_str(&format!(", {} behind it", left - 1));
        }
        blocker(owner, number, age)
    }
}

fn blocker(owner: String, number: Option<i32>, age: Duration) -> Blocker {
    let thread = describe_thread(Some(THREAD), number);
    Blocker { kind: LeaseKind::Finalizer, owner, thread, age, place: None }
}

impl Running {
    fn name(&self) -> String {
        format!("Drop of {} ({}, generation {})", self.class, self.module, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use crossbeam_channel::bounded;

    use super::Finalizer;
    use crate::handles::{Generation, ModuleId};

    fn until(condition: impl Fn() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(begun.elapsed() < Duration::from_secs(30));
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn an_abandoned_thread_does_not_hide_the_next_threads_work() {
        let finalizer = Finalizer::start().expect("a thread");
        let hold = |number| {
            let (release, held) = bounded::<()>(0);
            let last = move || {
                let _released = held.recv();
            };
            (release, finalizer.barrier(Generation(number), vec![ModuleId(number)], last))
        };
        let runs = |generation: &str| finalizer.running().is_some_and(|running| running.owner.ends_with(generation));
        let (release, first) = hold(1);
        until(|| runs("generation 1)"));
        finalizer.abandon(&[ModuleId(1)]);
        let (release_second, second) = hold(2);
        until(|| runs("generation 2)"));
        let before = Arc::strong_count(&finalizer.desk);
        drop(release);
        // The replaced thread drops its reference to the shared `Desk` when it ends.
        until(|| Arc::strong_count(&finalizer.desk) < before);
        assert!(first.is_passed());
        assert!(runs("generation 2)"));
        drop(release_second);
        until(|| second.is_passed());
    }

    #[test]
    fn a_barrier_moves_until_a_finalizer_runs_for_the_grace_period() {
        let finalizer = Finalizer::start().expect("a thread");
        let (release, held) = bounded::<()>(0);
        let last = move || {
            let _released = held.recv();
        };
        let first = finalizer.barrier(Generation(1), vec![ModuleId(1)], last);
        let second = finalizer.barrier(Generation(2), vec![ModuleId(2)], || {});
        until(|| finalizer.running().is_some());
        assert!(second.is_moving(Duration::from_secs(600)));
        until(|| !second.is_moving(Duration::from_millis(5)));
        drop(release);
        until(|| first.is_passed() && second.is_moving(Duration::from_secs(600)));
        until(|| second.is_passed());
        assert!(!second.is_moving(Duration::ZERO));
    }
}
