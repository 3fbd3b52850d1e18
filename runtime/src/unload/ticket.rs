//! Ticket of the unload of a generation or a Slim. A request for an unload returns the ticket immediately. Any thread can read the state of
//! the unload, poll the unload, and wait for its end. A poll continues the unload as far as possible without blocking. The steps in a poll
//! do not need the game thread.

use std::fmt;
use std::time::{Duration, Instant};

use crate::bridge::tasks::JobCount;
use crate::deadline;
use crate::lease::{Blocker, Entry, LeaseKind};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, lock, thread};
use crate::unload::report::{BlockerReport, UnloadReport};
use crate::unload::state::ContextState;
use crate::unload::work::{Progress, UnloadWork, Unloaded};

/// Maximum sleep of a waiting thread between two polls. Polling is required, because the exit of a blocking thread notifies no condition
/// variable.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Duration after which a poll counts as long, because an exit hook, a destructor or a listener may hang. Reports then name the polling
/// thread.
const LONG_POLL: Duration = Duration::from_millis(100);

/// Maximum time that a park request waits for the end of a concurrent poll.
const PARK_WAIT: Duration = Duration::from_secs(1);

struct Status {
    state: ContextState,
    blockers: Vec<Blocker>,
    drained: bool,
    unloaded: Unloaded,
    problems: Vec<String>,
    jobs: Vec<JobCount>,
    duration: Option<Duration>,
    /// Time of the last poll that found progress of the unload on a different thread, such as the finalizer thread.
    moved: Option<Instant>,
}

struct Shared {
    subject: String,
    begun: Instant,
    /// Time after which an unload with blockers counts as blocked.
    patience: Duration,
    status: Mutex<Status>,
    changed: Condvar,
    work: Mutex<Work>,
    /// Set during a poll by a park request. The unload is then parked after the poll.
    is_to_be_parked: AtomicBool,
}

/// Remaining steps of the unload. A polling thread moves the [`UnloadWork`] out of the ticket, so that no lock is held while module code
/// runs.
enum Work {
    Here(Box<dyn UnloadWork>),
    /// The entry names the polling thread.
    Driven(Entry),
    Gone,
}

/// Poll in progress. Dropping this value returns the [`UnloadWork`] to the ticket, even if module code panics. Otherwise waiting threads
/// would block permanently.
struct Poll<'a> {
    ticket: &'a UnloadTicket,
    work: Option<Box<dyn UnloadWork>>,
}

/// Handle of an unload that has begun. Clones refer to the same unload. A ticket may be kept or dropped at any time. Usable on
/// any thread.
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::{ContextState, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// let lease = reports.lease("a page is being sent")?;
/// let ticket = reports.begin_unload()?;
/// let blocked = ticket.wait(Duration::ZERO).unwrap_err();
/// assert!(!blocked.blockers.is_empty());
/// drop(lease);
/// ticket.wait(Duration::from_secs(5)).unwrap();
/// assert_eq!(ticket.state(), ContextState::Dead);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "the unload has begun; the ticket reports its end"]
pub struct UnloadTicket {
    shared: Arc<Shared>,
}

impl UnloadTicket {
    /// Creates a ticket for `work`. The age of the unload is measured from this call. The state is [`ContextState::Unloading`] until
    /// `patience` has passed. Then an unload with blockers counts as blocked, unless finalizers make progress.
    pub(crate) fn new(subject: impl Into<String>, patience: Duration, work: Box<dyn UnloadWork>) -> Self {
        let status = Status {
            state: ContextState::Unloading,
            blockers: Vec::new(),
            drained: false,
            unloaded: Unloaded::default(),
            problems: Vec::new(),
            jobs: Vec::new(),
            duration: None,
            moved: None,
        };
        let shared = Shared {
            subject: subject.into(),
            begun: Instant::now(),
            patience,
            status: Mutex::new(status),
            changed: Condvar::new(),
            work: Mutex::new(Work::Here(work)),
            is_to_be_parked: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the subject of the unload, such as `generation 3` or `Slim "reports"`.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.shared.subject
    }

    /// Returns the state of the unload after the last poll.
    #[must_use]
    pub fn state(&self) -> ContextState {
        self.status().state
    }

    /// Returns the time since the unload began.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.shared.begun.elapsed()
    }

    /// Returns the time since the last poll that found progress on a different thread. If no poll has found progress, returns the age.
    pub(crate) fn idle(&self) -> Duration {
        let moved = self.status().moved;
        moved.map_or_else(|| self.age(), |moved| moved.elapsed())
    }

    /// Continues the unload as far as possible without blocking. Returns the state of the unload.
    ///
    /// This call may run module code on the calling thread. Module code includes destructors of thread-locals, exit handlers, and
    /// finalizers.
    pub fn poll(&self) -> ContextState {
        let Some(mut poll) = self.take_work() else { return self.state() };
        // Calls `advance` without a lock, because `advance` runs module code, and a listener may poll this ticket.
        match poll.work().advance() {
            Progress::Waiting { blockers, drained } => {
                let is_moving = poll.work().is_moving();
                let mut status = self.status();
                status.drained |= drained;
                if is_moving {
                    status.moved = Some(Instant::now());
                }
                let is_blocked = self.age() >= self.shared.patience && !blockers.is_empty() && !is_moving;
                self.step(&mut status, if is_blocked { ContextState::Blocked } else { ContextState::Unloading });
                status.blockers = blockers;
                drop(status);
                drop(poll);
                // Checks the flag after the poll has returned the work to the ticket. A park request during the poll has set the flag. A
                // later park request parks the unload without the flag.
                if self.shared.is_to_be_parked.load(Ordering::Acquire)
                    && let Some(poll) = self.take_work()
                {
                    self.park_work(poll);
                }
            }
            Progress::Ended(unloaded) => {
                poll.end();
                self.end(unloaded);
            }
        }
        self.shared.changed.notify_all();
        self.state()
    }

    /// Polls until the images are unmapped, until `deadline` has passed, or until the host has parked the unload.
    ///
    /// Callable on the game thread of a Master. Steps that require a safe point do not run during the wait. Events of the Master are raised
    /// at the next safe point. Like [`checkpoint`](crate::checkpoint), the wait also drops thread-locals of other unloading modules on this
    /// thread.
    ///
    /// # Errors
    /// Returns the blockers if an image is mapped at the end of the wait.
    pub fn wait(&self, deadline: Duration) -> Result<UnloadReport, BlockerReport> {
        let until = deadline::after(deadline);
        loop {
            // The context may wait for a dependent module in another context, whose thread-locals only this thread can drop.
            alcedo_sys::checkpoint();
            let state = self.poll();
            let left = until.saturating_duration_since(Instant::now());
            if state.is_over() || left.is_zero() {
                return self.end_report().ok_or_else(|| self.report());
            }
            let status = self.status();
            // A concurrent thread may have completed the unload since the poll.
            if !status.state.is_over() {
                let timeout = left.min(POLL_INTERVAL);
                drop(self.shared.changed.wait_timeout(status, timeout).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Returns the blockers as of the last poll. The report has no blockers if the context is dead.
    #[must_use]
    pub fn report(&self) -> BlockerReport {
        // Omits the current thread from the blockers, because module code may call this method inside a poll.
        let driver = match &*self.work() {
            Work::Driven(driver) if !driver.is_here() => Some(driver.clone()),
            Work::Driven(_) | Work::Here(_) | Work::Gone => None,
        };
        let driver = driver.as_ref().map(Entry::to_blocker).filter(|driver| driver.age >= LONG_POLL);
        let status = self.status();
        let mut blockers = status.blockers.clone();
        blockers.extend(driver);
        BlockerReport {
            subject: self.shared.subject.clone(),
            state: status.state,
            since: status.duration.unwrap_or_else(|| self.age()),
            blockers,
            parked: status.unloaded.parked.clone(),
            problems: status.problems.clone(),
            jobs: status.jobs.clone(),
        }
    }

    /// Returns the report of the completed unload. Returns `None` if the context is not dead.
    #[must_use]
    pub fn end_report(&self) -> Option<UnloadReport> {
        let status = self.status();
        (status.state == ContextState::Dead).then(|| UnloadReport {
            subject: self.shared.subject.clone(),
            modules: status.unloaded.modules.clone(),
            problems: status.problems.clone(),
            jobs: status.jobs.clone(),
            duration: status.duration.unwrap_or_default(),
        })
    }

    /// Checks if every finalizer has run.
    pub(crate) fn is_drained(&self) -> bool {
        self.status().drained
    }

    /// Adds a non-fatal problem to the report.
    pub(crate) fn note(&self, problem: String) {
        self.status().problems.push(problem);
    }

    /// Adds the counts of dropped jobs to the report.
    pub(crate) fn note_jobs(&self, ended: Vec<JobCount>) {
        self.status().jobs.extend(ended);
    }

    /// Parks the unload. The remaining images stay mapped, and their blockers are recorded as the reason. Does nothing if the unload is
    /// complete. During a concurrent poll, waits up to one second for the end of the poll. If the poll does not end in time, or if the
    /// caller is inside the poll, the end of the poll parks the unload.
    pub(crate) fn park(&self) {
        self.park_within(PARK_WAIT);
    }

    /// Parks the unload like [`UnloadTicket::park`], but waits at most `wait`.
    pub(crate) fn park_within(&self, wait: Duration) {
        let until = Instant::now() + wait;
        loop {
            if let Some(poll) = self.take_work() {
                return self.park_work(poll);
            }
            let is_late = match &*self.work() {
                Work::Driven(driver) => driver.is_here() || Instant::now() >= until,
                Work::Here(_) => continue,
                Work::Gone => return,
            };
            if is_late {
                self.shared.is_to_be_parked.store(true, Ordering::Release);
                // Tries to take the work again, because the poll may have ended before the flag was set.
                return self.take_work().map_or((), |poll| self.park_work(poll));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Moves the remaining [`UnloadWork`] out of the ticket, to continue the unload on this thread. Returns `None` during a poll, and after
    /// the end of the unload.
    fn take_work(&self) -> Option<Poll<'_>> {
        let driver = "the end itself: an exit hook, a destructor or a listener runs";
        let driver = Entry::new(LeaseKind::Call, driver.into(), None);
        let mut work = self.work();
        match std::mem::replace(&mut *work, Work::Driven(driver)) {
            Work::Here(work) => Some(Poll { ticket: self, work: Some(work) }),
            other => {
                *work = other;
                None
            }
        }
    }

    fn park_work(&self, mut poll: Poll<'_>) {
        let unloaded = poll.work().park();
        poll.end();
        self.end(unloaded);
        self.shared.changed.notify_all();
    }

    pub(crate) fn parked_lines(&self) -> Vec<String> {
        let status = self.status();
        status.unloaded.parked.iter().map(|image| image.line(&self.shared.subject)).collect()
    }

    fn end(&self, unloaded: Unloaded) {
        let mut status = self.status();
        if unloaded.parked.is_empty() {
            self.step(&mut status, ContextState::Dead);
            status.drained = true;
            status.blockers.clear();
        } else {
            self.step(&mut status, ContextState::Parked);
        }
        status.duration = Some(self.age());
        status.unloaded = unloaded;
    }

    fn step(&self, status: &mut Status, next: ContextState) {
        match status.state.step(next) {
            Ok(state) => status.state = state,
            Err(error) => log!(ERROR, subject = self.shared.subject, %error, "an unload is out of order"),
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        lock(&self.shared.work)
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        lock(&self.shared.status)
    }
}

impl Poll<'_> {
    fn work(&mut self) -> &mut dyn UnloadWork {
        &mut **self.work.as_mut().expect("it is taken only by `end`, which ends the poll")
    }

    fn end(mut self) {
        self.work = None;
    }
}

impl Drop for Poll<'_> {
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
