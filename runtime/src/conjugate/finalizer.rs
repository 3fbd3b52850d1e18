//! The finalizer thread: the only place where a red plugin part is dropped. Plugin code that runs here cannot reach
//! the engine; the host's functions refuse the thread.
//!
//! A finalizer that never returns has the thread for ever. Nobody waits for it blindly: what runs is known by name and
//! age, and once its module is given up, another thread takes over the work of the others.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use alcedo_base::repeats::{Repeats, times};
use alcedo_sys::process::{thread_in_words, thread_number};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::border::CallError;
use crate::cells::RefCell;
use crate::conjugate::last_part::LastPart;
use crate::conjugate::pairs::Part;
use crate::handles::{Generation, ModuleId};
use crate::lease::{Blocker, LeaseKind};
use crate::watchdog::{Published, Source};

/// The thread's name, as reports show it.
const THREAD: &str = "alcedo-finalizer";

/// How long the end of a host waits for a finalizer that runs. What hangs longer was given up before, in order.
const LAST_DEADLINE: Duration = Duration::from_secs(5);

/// A finalizer that failed: its part counts as dropped, and the host goes on.
#[derive(Clone, Debug)]
pub(crate) struct FinalizerFailure {
    /// The module whose code it is.
    pub module: Arc<str>,
    /// Its generation.
    pub generation: Generation,
    /// What happened.
    pub error: CallError,
}

struct Job {
    part: LastPart,
    class: Arc<str>,
    id: ModuleId,
    module: Arc<str>,
    generation: Generation,
}

/// What only this thread can do behind the last part of a generation.
type LastWork = Box<dyn FnOnce() + Send>;

enum Message {
    Finalize(Job),
    Mark(Sender<()>),
    Barrier(Generation, Vec<ModuleId>, LastWork, Sender<()>),
}

/// The finalizer that runs now.
struct Running {
    class: Arc<str>,
    ids: Vec<ModuleId>,
    module: Arc<str>,
    generation: Generation,
    since: Instant,
    /// Which of all that ran.
    number: u64,
}

/// What the thread and those who wait for it both look at.
#[derive(Default)]
struct Desk {
    /// The number of the thread that does the work, once it has begun.
    number: Option<i32>,
    running: Option<Running>,
    /// How many have begun.
    begun: u64,
    /// How many parts were dropped, be it that their finalizer failed.
    dropped: u64,
    /// Which thread, counted, does the work; one that finds another number here has been given up.
    turn: u64,
    /// Modules whose finalizers do not run any more: their images stay mapped, and so may their plugin parts.
    given_up: BTreeSet<ModuleId>,
}

type Shared = Arc<Mutex<Desk>>;

/// The thread and the way to it. Parts are dropped in the order they are sent.
pub(crate) struct Finalizer {
    /// Parts that ended while plugin code was on the stack: a method of theirs may not have returned.
    waiting: RefCell<Vec<Part>>,
    /// How many were handed over.
    sent: Cell<u64>,
    jobs: Option<Sender<Message>>,
    inbox: Receiver<Message>,
    report: Sender<FinalizerFailure>,
    failures: Receiver<FinalizerFailure>,
    desk: Shared,
    thread: RefCell<Option<JoinHandle<()>>>,
}

impl Finalizer {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (jobs, inbox) = unbounded();
        let (report, failures) = unbounded();
        let (waiting, sent, desk) = (RefCell::default(), Cell::default(), Shared::default());
        let thread = RefCell::default();
        let this = Self { waiting, sent, jobs: Some(jobs), inbox, report, failures, desk, thread };
        this.spawn(0)?;
        Ok(this)
    }

    /// Starts the thread of this turn. The one before, if there is one, is left to itself.
    fn spawn(&self, turn: u64) -> std::io::Result<()> {
        let (inbox, report, desk) = (self.inbox.clone(), self.report.clone(), self.desk.clone());
        let worker = Worker { inbox, report, desk, turn, failures: Repeats::new() };
        let thread = std::thread::Builder::new().name(THREAD.into()).spawn(move || worker.run())?;
        drop(self.thread.replace(Some(thread)));
        Ok(())
    }

    /// Takes parts whose methods may still be on the stack; [`Finalizer::release`] hands them over.
    pub(crate) fn defer(&self, parts: Vec<Part>) {
        self.waiting.borrow_mut().extend(parts);
    }

    /// Hands the deferred parts over. The caller stands at a safe point: no method of theirs is on the stack.
    pub(crate) fn release(&self) {
        let waiting = self.waiting.take();
        self.finalize(waiting);
    }

    /// Hands parts over, derived before base. The caller must have ended their conjugate, and no method of theirs is on
    /// the stack.
    pub(crate) fn finalize(&self, parts: Vec<Part>) {
        for part in parts {
            self.sent.set(self.sent.get() + 1);
            let tag = part.gate.tag();
            let (module, generation) = (Arc::clone(&tag.name), tag.generation);
            self.send(Message::Finalize(Job {
                class: Arc::clone(&part.names.short),
                id: tag.id,
                module,
                generation,
                part: LastPart::from(part),
            }));
        }
    }

    /// A mark behind all that was handed over of `modules`, which leave in `generation`. `last` runs on the thread just
    /// before the mark is passed.
    pub(crate) fn barrier(
        &self,
        generation: Generation,
        modules: Vec<ModuleId>,
        last: impl FnOnce() + Send + 'static,
    ) -> Barrier {
        let (done, passed) = bounded(1);
        self.send(Message::Barrier(generation, modules, Box::new(last), done));
        Barrier { passed, desk: self.desk.clone(), inbox: self.inbox.clone(), begun: Instant::now() }
    }

    /// From now on no finalizer of `modules` begins. One that runs is left to its thread for ever, and another thread does
    /// the work of the other modules. The images of these must stay mapped.
    pub(crate) fn give_up(&self, modules: &[ModuleId]) {
        let mut desk = lock(&self.desk);
        desk.given_up.extend(modules);
        if desk.running.as_ref().is_none_or(|running| !running.ids.iter().any(|id| modules.contains(id))) {
            return;
        }
        desk.running = None;
        desk.turn += 1;
        let turn = desk.turn;
        drop(desk);
        if let Err(error) = self.spawn(turn) {
            tracing::error!(%error, "no thread takes over from a finalizer that hangs: plugin parts wait from now on");
        }
    }

    /// A mark behind all that was handed over. The host goes on whether it is passed or not, so it blocks nothing.
    pub(crate) fn mark(&self) -> Mark {
        let (done, passed) = bounded(1);
        self.send(Message::Mark(done));
        Mark { passed }
    }

    /// Parts that were dropped since the start.
    pub(crate) fn dropped(&self) -> u64 {
        lock(&self.desk).dropped
    }

    /// Parts that were not: the one whose finalizer runs, those behind it, those whose methods may not have returned, and
    /// those of modules that were given up.
    pub(crate) fn pending(&self) -> u64 {
        self.sent.get() - self.dropped() + self.waiting.borrow().len() as u64
    }

    /// The finalizer that runs now.
    pub(crate) fn running(&self) -> Option<Blocker> {
        let desk = lock(&self.desk);
        desk.running.as_ref().map(|running| blocker(running.name(), desk.number, running.since.elapsed()))
    }

    /// Failures since the last time.
    pub(crate) fn failures(&self) -> Vec<FinalizerFailure> {
        self.failures.try_iter().collect()
    }

    /// What the thread is doing, for the watchdog.
    pub(crate) fn source(&self) -> Source {
        let desk = self.desk.clone();
        let activity = move || {
            let desk = lock(&desk);
            let running = desk.running.iter();
            running.map(|job| Published::call(job.number, &job.module, &format!("Drop of {}", job.class))).collect()
        };
        Source { thread: "finalizer thread", activity: Box::new(activity) }
    }

    fn send(&self, message: Message) {
        if let Some(jobs) = &self.jobs {
            // This value holds a receiver itself, so there is one.
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
                tracing::error!(running, "the host ends without the finalizer thread, which does not return");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ended = thread.join();
    }
}

/// A mark in the queue of the finalizer thread. Any thread may look whether it was passed.
pub(crate) struct Barrier {
    passed: Receiver<()>,
    desk: Shared,
    inbox: Receiver<Message>,
    begun: Instant,
}

impl Barrier {
    /// Whether all that was handed over before is dropped. Says so once.
    pub(crate) fn is_passed(&self) -> bool {
        self.passed.try_recv().is_ok()
    }

    /// Who keeps it from being passed.
    pub(crate) fn blocker(&self) -> Blocker {
        let desk = lock(&self.desk);
        let (mut owner, age) = match &desk.running {
            Some(running) => (running.name(), running.since.elapsed()),
            None => ("the next in the queue".to_owned(), self.begun.elapsed()),
        };
        let number = desk.number;
        drop(desk);
        let waiting = self.inbox.len();
        if waiting > 1 {
            // This mark is one of them.
            owner.push_str(&format!(", {} behind it", waiting - 1));
        }
        blocker(owner, number, age)
    }
}

/// A mark in the queue that only one who waits looks at.
pub(crate) struct Mark {
    passed: Receiver<()>,
}

impl Mark {
    /// Whether all that was handed over before is dropped. Says so once.
    pub(crate) fn is_passed(&self) -> bool {
        self.passed.try_recv().is_ok()
    }
}

fn blocker(owner: String, number: Option<i32>, age: Duration) -> Blocker {
    let thread = thread_in_words(Some(THREAD), number);
    Blocker { kind: LeaseKind::Finalizer, owner, thread, age, place: None }
}

impl Running {
    fn name(&self) -> String {
        format!("Drop of {} ({}, generation {})", self.class, self.module, self.generation)
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Worker {
    inbox: Receiver<Message>,
    report: Sender<FinalizerFailure>,
    desk: Shared,
    turn: u64,
    /// Counts failures that were logged.
    failures: Repeats,
}

impl Worker {
    fn run(self) {
        {
            let mut desk = lock(&self.desk);
            // One that was given up while it began is not the one that does the work.
            if desk.turn == self.turn {
                desk.number = thread_number();
            }
        }
        for message in &self.inbox {
            match message {
                Message::Finalize(job) => {
                    if !self.begin(&job.class, &job.module, job.generation, &[job.id]) {
                        continue;
                    }
                    self.finalize(job);
                    lock(&self.desk).dropped += 1;
                    if !self.end() {
                        return;
                    }
                }
                Message::Mark(done) => {
                    let _sent = done.send(());
                }
                Message::Barrier(generation, ids, last, done) => {
                    if !self.begin(&"its thread-locals".into(), &"on this thread".into(), generation, &ids) {
                        continue;
                    }
                    last();
                    let _sent = done.send(());
                    if !self.end() {
                        return;
                    }
                }
            }
        }
    }

    /// Writes down what runs; whether it may.
    fn begin(&self, class: &Arc<str>, module: &Arc<str>, generation: Generation, ids: &[ModuleId]) -> bool {
        let mut desk = lock(&self.desk);
        let (class, module) = (Arc::clone(class), Arc::clone(module));
        let may = ids.iter().all(|id| !desk.given_up.contains(id));
        desk.begun += 1;
        let number = desk.begun;
        desk.running =
            may.then(|| Running { class, ids: ids.to_vec(), module, generation, since: Instant::now(), number });
        may
    }

    /// Nothing runs any more; whether this thread still does the work.
    fn end(&self) -> bool {
        let mut desk = lock(&self.desk);
        let is_ours = desk.turn == self.turn;
        if is_ours {
            desk.running = None;
        }
        is_ours
    }

    fn finalize(&self, job: Job) {
        let result = job.part.finalize();
        if let Err(error) = result {
            if let Some(count) = self.failures.note(job.generation.0, &job.class) {
                let times = times(count);
                tracing::error!(module = %job.module, class = %job.class, %error, "a finalizer failed{times}");
            }
            let _sent = self.report.send(FinalizerFailure { module: job.module, generation: job.generation, error });
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn a_thread_given_up_does_not_hide_what_runs_on_the_next() {
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
        finalizer.give_up(&[ModuleId(1)]);
        let (release_second, second) = hold(2);
        until(|| runs("generation 2)"));
        drop(release);
        until(|| first.is_passed());
        // Time for the first thread to end.
        for _ in 0..100 {
            assert!(runs("generation 2)"));
            sleep(Duration::from_millis(1));
        }
        drop(release_second);
        until(|| second.is_passed());
    }
}
