//! A ticket for an unload: the caller that requested one gets it at once, and can look at it, drive it and wait on it
//! from any thread, whether a generation of the Master goes or a Slim.
//!
//! Any thread can drive an unload: each look takes it as far as it goes and no further. What runs then is what is left
//! when the game thread has done its part, so it needs no game thread.

use std::fmt;
use std::time::{Duration, Instant};

use alcedo_sys::process;

use crate::bridge::tasks::JobCount;
use crate::deadline;
use crate::lease::{Blocker, LeaseKind};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use crate::unload::report::{BlockerReport, UnloadReport};
use crate::unload::state::{ContextState, StateChange};
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// How long a waiter sleeps at most before it looks again: what it waits for may be a thread that ends, which
/// signals nothing.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A look that takes longer is named in reports: code that ends a module, or a listener, does not return.
const LONG_LOOK: Duration = Duration::from_millis(100);

/// How long giving an unload up waits for the look of another thread.
const PARK_WAIT: Duration = Duration::from_secs(1);

struct Told {
    state: ContextState,
    blockers: Vec<Blocker>,
    drained: bool,
    unloaded: Unloaded,
    problems: Vec<String>,
    jobs: Vec<JobCount>,
    took: Option<Duration>,
}

struct Shared {
    subject: String,
    begun: Instant,
    /// For how long it is not reported as blocked.
    patience: Duration,
    told: Mutex<Told>,
    changed: Condvar,
    work: Mutex<Work>,
    /// It is to be given up as soon as the look that is under way is over.
    is_to_be_parked: AtomicBool,
}

/// What is left to do. The thread that drives it takes it out, so that no lock is held while code of a module runs.
enum Work {
    Here(Box<dyn UnloadWork>),
    /// A thread has it.
    Driven(Driver),
    Gone,
}

/// The thread that takes an unload further now.
#[derive(Clone)]
struct Driver {
    thread: Thread,
    number: Option<i32>,
    since: Instant,
}

impl Driver {
    fn this() -> Self {
        Self { thread: thread::current(), number: process::thread_number(), since: Instant::now() }
    }

    fn is_here(&self) -> bool {
        self.thread.id() == thread::current().id()
    }

    /// What reports say of one that does not come back.
    fn blocker(&self) -> Blocker {
        Blocker {
            kind: LeaseKind::Call,
            owner: "the end itself: an exit hook, a destructor or a listener runs".into(),
            thread: process::thread_in_words(self.thread.name(), self.number),
            age: self.since.elapsed(),
            place: None,
        }
    }
}

/// A look that is under way. What is left to do goes back when it is over, also when code of the module panics in it: else
/// waiting threads would wait for ever.
struct Look<'a> {
    ticket: &'a UnloadTicket,
    work: Option<Box<dyn UnloadWork>>,
}

/// An unload that has begun. A clone is the same ticket; it may be kept for ever and dropped at any time. Any thread.
#[derive(Clone)]
#[must_use = "the unload has begun; the ticket tells whether it ends"]
pub struct UnloadTicket {
    shared: Arc<Shared>,
}

impl UnloadTicket {
    /// A ticket for `work`, which begins now. Until `patience` has passed it counts as unloading, then as blocked.
    pub(crate) fn new(subject: impl Into<String>, patience: Duration, work: Box<dyn UnloadWork>) -> Self {
        let told = Told {
            state: ContextState::Unloading,
            blockers: Vec::new(),
            drained: false,
            unloaded: Unloaded::default(),
            problems: Vec::new(),
            jobs: Vec::new(),
            took: None,
        };
        let shared = Shared {
            subject: subject.into(),
            begun: Instant::now(),
            patience,
            told: Mutex::new(told),
            changed: Condvar::new(),
            work: Mutex::new(Work::Here(work)),
            is_to_be_parked: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What is unloaded: `generation 3`, `Slim "reports"`.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.shared.subject
    }

    /// How far it has come, as of the last look.
    #[must_use]
    pub fn state(&self) -> ContextState {
        self.told().state
    }

    /// How long ago it began.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.shared.begun.elapsed()
    }

    /// Looks, takes the unload as far as it goes without waiting, and says how far that is.
    ///
    /// Destructors of a module's thread-locals on the calling thread, its exit handlers and its finalisers may run in
    /// here.
    pub fn poll(&self) -> ContextState {
        let Some(mut look) = self.take_work() else { return self.state() };
        // No lock is held from here on: code of the module runs, and a listener to that may look at this very ticket.
        match look.work().advance() {
            Progress::Waiting { blockers, drained } => {
                let mut told = self.told();
                told.drained |= drained;
                if self.age() >= self.shared.patience && !blockers.is_empty() {
                    self.step(&mut told, StateChange::LeasesRemain);
                }
                told.blockers = blockers;
                drop(told);
                drop(look);
                // Only now: a park that came before the work was back has left this, and a later one takes the work itself.
                if self.shared.is_to_be_parked.load(Ordering::Acquire)
                    && let Some(look) = self.take_work()
                {
                    self.give_up(look);
                }
            }
            Progress::Ended(unloaded) => {
                look.end();
                self.end(unloaded);
            }
        }
        self.shared.changed.notify_all();
        self.state()
    }

    /// Waits until the images are gone, `deadline` has passed, or the host has given up on it.
    ///
    /// On the game thread of a Master it may be waited as well, though what only the next safe point can end is not
    /// ended then; the events of the Master are raised at the next safe point in any case.
    ///
    /// # Errors
    /// What keeps it, when it is not gone.
    pub fn wait(&self, deadline: Duration) -> Result<UnloadReport, BlockerReport> {
        let until = deadline::after(deadline);
        loop {
            let state = self.poll();
            let left = until.saturating_duration_since(Instant::now());
            if matches!(state, ContextState::Dead | ContextState::Parked) || left.is_zero() {
                return self.end_report().ok_or_else(|| self.report());
            }
            let told = self.told();
            // Another driver may have ended it since it was looked at.
            if !matches!(told.state, ContextState::Dead | ContextState::Parked) {
                let nap = left.min(LOOK_AGAIN);
                drop(self.shared.changed.wait_timeout(told, nap).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// What keeps it, as of the last look. Empty for one that is dead.
    #[must_use]
    pub fn report(&self) -> BlockerReport {
        // Whoever looks may ask what it sees.
        let driver = self.driver().filter(|driver| !driver.is_here() && driver.since.elapsed() >= LONG_LOOK);
        let told = self.told();
        let mut blockers = told.blockers.clone();
        blockers.extend(driver.as_ref().map(Driver::blocker));
        BlockerReport {
            subject: self.shared.subject.clone(),
            state: told.state,
            since: told.took.unwrap_or_else(|| self.age()),
            blockers,
            parked: told.unloaded.parked.clone(),
            problems: told.problems.clone(),
            jobs: told.jobs.clone(),
        }
    }

    /// What it left, once it is dead.
    #[must_use]
    pub fn end_report(&self) -> Option<UnloadReport> {
        let told = self.told();
        (told.state == ContextState::Dead).then(|| UnloadReport {
            subject: self.shared.subject.clone(),
            modules: told.unloaded.modules.clone(),
            problems: told.problems.clone(),
            jobs: told.jobs.clone(),
            took: told.took.unwrap_or_default(),
        })
    }

    /// Whether every finalizer of it has run.
    pub(crate) fn is_drained(&self) -> bool {
        self.told().drained
    }

    /// Adds something that went wrong and stopped nothing.
    pub(crate) fn note(&self, problem: String) {
        self.told().problems.push(problem);
    }

    /// Adds what had still to be done.
    pub(crate) fn note_jobs(&self, ended: Vec<JobCount>) {
        self.told().jobs.extend(ended);
    }

    /// Gives up: what is not gone stays mapped, and the reason names what kept it. Without effect on one that has
    /// ended. Waits a second for another thread that drives it at this moment; if that one does not come back, or is
    /// this thread further out, it is given up as soon as that look is over.
    pub(crate) fn park(&self) {
        self.park_within(PARK_WAIT);
    }

    /// The same, with so long a wait.
    pub(crate) fn park_within(&self, wait: Duration) {
        let until = Instant::now() + wait;
        loop {
            if let Some(look) = self.take_work() {
                return self.give_up(look);
            }
            let is_late = match &*self.work() {
                Work::Driven(driver) => driver.is_here() || Instant::now() >= until,
                Work::Here(_) => continue,
                Work::Gone => return,
            };
            if is_late {
                self.shared.is_to_be_parked.store(true, Ordering::Release);
                // The look may have ended between the two.
                return self.take_work().map_or((), |look| self.give_up(look));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// The thread that takes it further now.
    fn driver(&self) -> Option<Driver> {
        match &*self.work() {
            Work::Driven(driver) => Some(driver.clone()),
            Work::Here(_) | Work::Gone => None,
        }
    }

    /// What is left to do, for this thread to drive; nothing while another look is under way, and when all is done.
    fn take_work(&self) -> Option<Look<'_>> {
        let mut work = self.work();
        match std::mem::replace(&mut *work, Work::Driven(Driver::this())) {
            Work::Here(work) => Some(Look { ticket: self, work: Some(work) }),
            other => {
                *work = other;
                None
            }
        }
    }

    fn give_up(&self, mut look: Look<'_>) {
        let unloaded = look.work().park();
        look.end();
        {
            let mut told = self.told();
            self.step(&mut told, StateChange::LeasesRemain);
        }
        self.end(unloaded);
        self.shared.changed.notify_all();
    }

    /// The images that stay, one line each.
    pub(crate) fn parked_lines(&self) -> Vec<String> {
        let told = self.told();
        told.unloaded.parked.iter().map(|image| image.line(&self.shared.subject)).collect()
    }

    fn end(&self, unloaded: Unloaded) {
        let mut told = self.told();
        if told.state == ContextState::Blocked && unloaded.parked.is_empty() {
            self.step(&mut told, StateChange::LeasesGone);
        }
        if unloaded.parked.is_empty() {
            self.step(&mut told, StateChange::ImageGone);
            told.drained = true;
            told.blockers.clear();
        } else {
            self.step(&mut told, StateChange::ImageStays);
            self.step(&mut told, StateChange::Park);
        }
        told.took = Some(self.age());
        told.unloaded = unloaded;
    }

    fn step(&self, told: &mut Told, event: StateChange) {
        match told.state.step(event) {
            Ok(state) => told.state = state,
            Err(error) => tracing::error!(subject = self.shared.subject, %error, "an unload is out of order"),
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.shared.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.shared.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look<'_> {
    fn work(&mut self) -> &mut dyn UnloadWork {
        &mut **self.work.as_mut().expect("it is taken out only by `end`, which ends the look")
    }

    /// Nothing is left to do.
    fn end(mut self) {
        self.work = None;
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        *self.ticket.work() = self.work.take().map_or(Work::Gone, Work::Here);
    }
}

impl PartialEq for UnloadTicket {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for UnloadTicket {}

impl fmt::Debug for UnloadTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a ticket: {} is {}", self.shared.subject, self.state())
    }
}

#[cfg(test)]
#[path = "ticket/tests.rs"]
mod tests;
