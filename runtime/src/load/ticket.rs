//! A ticket for an unload: who asked for one gets it at once, and can look at it, drive it and wait on it from any
//! thread, whether a generation of the Master goes or a Slim.
//!
//! Nobody has to drive an unload for the others: whoever looks takes it as far as it goes and no further. What runs
//! then is what is left when the game thread has done its part, so it needs no game thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use alcedo_sys::process;
use serde::{Deserialize, Serialize};

use crate::bridge::tasks::ErrandCount;
use crate::deadline;
use crate::lease::{Blocker, LeaseKind};
use crate::load::state::{ContextEvent, ContextState};

/// How long a waiter sleeps at most before it looks again: what it waits for may be a thread that ends, which tells
/// nobody.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A look that takes longer is named in reports: code that ends a module, or a listener, does not return.
const LONG_LOOK: Duration = Duration::from_millis(100);

/// So long whoever gives an unload up waits for the look of another thread.
const PARK_WAIT: Duration = Duration::from_secs(1);

/// What is left to do of an unload, none of which needs the game thread.
pub(crate) trait Departure: Send {
    /// Goes as far as it can without waiting for anybody.
    fn advance(&mut self) -> Progress;

    /// Gives up on what is not gone: those images stay mapped.
    fn park(&mut self) -> Departed;
}

/// How far a departure has come.
pub(crate) enum Progress {
    /// It has to wait.
    Waiting {
        /// For whom; nobody, when only another look is needed.
        blockers: Vec<Blocker>,
        /// Whether every finalizer has run.
        drained: bool,
    },
    /// There is nothing left to do.
    Ended(Departed),
}

/// How the modules of a context ended.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    /// What those left whose image is gone.
    pub modules: Vec<ModuleEnd>,
    /// Images that stay.
    pub parked: Vec<ParkedImage>,
}

/// What a module whose image is gone had left behind, and what became of it. All of it is the host's work: a plugin
/// that ends what it begins leaves none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleEnd {
    /// The module.
    pub module: String,
    /// Destructors of thread-locals that ran on their own threads.
    pub thread_locals_run: u64,
    /// Threads that had ended and were never joined.
    pub threads_joined: u64,
    /// Threads that did not stop and were taken out of their system call, because the host allows that.
    pub threads_evicted: u64,
    /// Handlers for the end of the process, which ran now.
    pub exit_handlers: u64,
    /// Signal handlers that were taken out.
    pub signals: u64,
    /// Keys of thread-specific data that were deleted.
    pub keys: u64,
    /// Bytes of the module's own heap that nobody freed: `forget`, `leak`, statics.
    pub leaked_heap_bytes: u64,
    /// Bytes that were taken from the C heap and not given back, and are freed.
    pub c_heap_bytes: u64,
    /// Blocks of the C heap that were not given back, and are freed.
    pub c_heap_blocks: u64,
    /// Bytes of the C heap that were not given back and stay, because they may be somebody else's by now.
    #[serde(default)]
    pub c_heap_kept_bytes: u64,
    /// Blocks of the C heap that stay.
    #[serde(default)]
    pub c_heap_kept_blocks: u64,
    /// Why they stay; empty if none do.
    #[serde(default)]
    pub c_heap_kept_for: String,
    /// Unwind tables that were left with the unwinder, and were taken back.
    #[serde(default)]
    pub frames: u64,
    /// Addresses that led into the module from the environment or from variables of the C library (`putenv`, `stdout`), and
    /// lead elsewhere now.
    #[serde(default)]
    pub addresses: u64,
    /// Limits of the process that raise signals which the module has handled, and timers that it has set by bare system
    /// calls: each with what became of it, in words.
    #[serde(default)]
    pub put_back: Vec<String>,
    /// How often memory was looked through for what still leads into the module.
    #[serde(default)]
    pub looks: u64,
    /// How long that took in all.
    #[serde(default)]
    pub look_took: Duration,
    /// Bytes of memory maps that were not given back.
    pub maps_bytes: u64,
    /// Memory maps that stay and that the module's memory led to: it has made them past its hooks, by system calls of its
    /// own, or they are the host's. Nobody can tell, so they are not given back.
    #[serde(default)]
    pub maps_unknown: u64,
    /// Bytes of those.
    #[serde(default)]
    pub maps_unknown_bytes: u64,
    /// Open file descriptors that the module left, and what they lead to.
    pub fds_left: Vec<(i32, String)>,
    /// File descriptors that were closed, because the host allows that.
    pub fds_closed: u64,
    /// Processes that the module had started and that nobody has waited for: their numbers, names, and whether they have
    /// ended.
    pub children_left: Vec<(i32, String)>,
    /// Such processes that had ended and were waited for, because the host wants that.
    pub children_reaped: u64,
}

/// An image that stays mapped until the process ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedImage {
    /// The module.
    pub module: String,
    /// The file name of the private copy it was mapped from.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// An unload that came to its end: the images are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnloadReport {
    /// What was unloaded: `generation 3`, `Slim "reports"`.
    pub subject: String,
    /// What its modules had left behind.
    pub modules: Vec<ModuleEnd>,
    /// What went wrong on the way and stopped nothing: callbacks, exit hooks and finalizers that panicked, and resources
    /// that have no end.
    pub problems: Vec<String>,
    /// Tasks, timers and posted closures that had not ended, and were dropped. Slims have none.
    #[serde(default)]
    pub errands: Vec<ErrandCount>,
    /// From the seal until the last image was gone.
    pub took: Duration,
}

/// An unload that has not come to its end, and who keeps it from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockerReport {
    /// What is to be unloaded: `generation 3`, `Slim "reports"`.
    pub subject: String,
    /// How far it has come.
    pub state: ContextState,
    /// How long ago the unload began.
    pub since: Duration,
    /// Who keeps it, longest first.
    pub blockers: Vec<Blocker>,
    /// Images that stay mapped for good.
    pub parked: Vec<ParkedImage>,
    /// What went wrong on the way and stopped nothing.
    pub problems: Vec<String>,
    /// Tasks, timers and posted closures that had not ended, and were dropped. Slims have none.
    #[serde(default)]
    pub errands: Vec<ErrandCount>,
}

struct Told {
    state: ContextState,
    blockers: Vec<Blocker>,
    drained: bool,
    departed: Departed,
    problems: Vec<String>,
    errands: Vec<ErrandCount>,
    took: Option<Duration>,
}

struct Shared {
    subject: String,
    begun: Instant,
    /// For how long nobody calls it blocked.
    patience: Duration,
    told: Mutex<Told>,
    changed: Condvar,
    work: Mutex<Work>,
    /// It is to be given up as soon as the look that is under way is over.
    is_to_be_parked: AtomicBool,
}

/// What is left to do. Whoever drives it takes it out, so that no lock is held while code of a module runs.
enum Work {
    Here(Box<dyn Departure>),
    /// A thread has it.
    Driven(Driver),
    Gone,
}

/// Who takes an unload further now.
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
/// whoever waits would wait for ever.
struct Look<'a> {
    ticket: &'a UnloadTicket,
    departure: Option<Box<dyn Departure>>,
}

/// An unload that has begun. A clone is the same ticket; it may be kept for ever and dropped at any time. Any thread.
#[derive(Clone)]
#[must_use = "the unload has begun; the ticket tells whether it ends"]
pub struct UnloadTicket {
    shared: Arc<Shared>,
}

impl UnloadTicket {
    /// A ticket for `work`, which begins now. Until `patience` has passed it counts as unloading, then as blocked.
    pub(crate) fn new(subject: impl Into<String>, patience: Duration, work: Box<dyn Departure>) -> Self {
        let told = Told {
            state: ContextState::Unloading,
            blockers: Vec::new(),
            drained: false,
            departed: Departed::default(),
            problems: Vec::new(),
            errands: Vec::new(),
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

    /// How far it has come, as far as anybody has looked.
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
        // No lock is held from here on: code of the module runs, and whoever hears of that may look at this very ticket.
        match look.departure().advance() {
            Progress::Waiting { blockers, drained } => {
                let mut told = self.told();
                told.drained |= drained;
                if self.age() >= self.shared.patience && !blockers.is_empty() {
                    self.step(&mut told, ContextEvent::LeasesRemain);
                }
                told.blockers = blockers;
                drop(told);
                if self.shared.is_to_be_parked.load(Ordering::Acquire) {
                    self.give_up(look);
                }
            }
            Progress::Ended(departed) => {
                look.end();
                self.end(departed);
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
    /// Who keeps it, when it is not gone.
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

    /// Who keeps it, as of the last look. Empty for one that is dead.
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
            parked: told.departed.parked.clone(),
            problems: told.problems.clone(),
            errands: told.errands.clone(),
        }
    }

    /// What it left, once it is dead.
    #[must_use]
    pub fn end_report(&self) -> Option<UnloadReport> {
        let told = self.told();
        (told.state == ContextState::Dead).then(|| UnloadReport {
            subject: self.shared.subject.clone(),
            modules: told.departed.modules.clone(),
            problems: told.problems.clone(),
            errands: told.errands.clone(),
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
    pub(crate) fn note_errands(&self, ended: Vec<ErrandCount>) {
        self.told().errands.extend(ended);
    }

    /// Gives up: what is not gone stays mapped, and the reason names who kept it. Without effect on one that has ended.
    /// Waits a second for another thread that drives it at this moment; if that one does not come back, or is this thread
    /// further out, it is given up as soon as that look is over.
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
            Work::Here(departure) => Some(Look { ticket: self, departure: Some(departure) }),
            other => {
                *work = other;
                None
            }
        }
    }

    fn give_up(&self, mut look: Look<'_>) {
        let departed = look.departure().park();
        look.end();
        {
            let mut told = self.told();
            self.step(&mut told, ContextEvent::LeasesRemain);
        }
        self.end(departed);
        self.shared.changed.notify_all();
    }

    /// The images that stay, one line each.
    pub(crate) fn parked_lines(&self) -> Vec<String> {
        let told = self.told();
        told.departed.parked.iter().map(|image| image.line(&self.shared.subject)).collect()
    }

    fn end(&self, departed: Departed) {
        let mut told = self.told();
        if told.state == ContextState::Blocked && departed.parked.is_empty() {
            self.step(&mut told, ContextEvent::LeasesGone);
        }
        if departed.parked.is_empty() {
            self.step(&mut told, ContextEvent::ImageGone);
            told.drained = true;
            told.blockers.clear();
        } else {
            self.step(&mut told, ContextEvent::ImageStays);
            self.step(&mut told, ContextEvent::Park);
        }
        told.took = Some(self.age());
        told.departed = departed;
    }

    fn step(&self, told: &mut Told, event: ContextEvent) {
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
    fn departure(&mut self) -> &mut dyn Departure {
        &mut **self.departure.as_mut().expect("it is taken out only by `end`, which ends the look")
    }

    /// Nothing is left to do.
    fn end(mut self) {
        self.departure = None;
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        *self.ticket.work() = self.departure.take().map_or(Work::Gone, Work::Here);
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

impl ParkedImage {
    /// The image as one line of a report.
    pub(crate) fn line(&self, subject: &str) -> String {
        format!("{} of {subject} stays mapped ({}): {}", self.module, self.file, self.reason)
    }
}

impl fmt::Display for BlockerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} ({})", self.subject, self.state, seconds(self.since))?;
        let mut groups: Vec<(usize, &Blocker)> = Vec::new();
        for blocker in &self.blockers {
            match groups.iter_mut().find(|(_, first)| (first.kind, &first.owner) == (blocker.kind, &blocker.owner)) {
                Some((count, _)) => *count += 1,
                None => groups.push((1, blocker)),
            }
        }
        let heads: Vec<_> =
            groups.iter().map(|(count, first)| format!("{count} {}", first.kind.counted(*count))).collect();
        let width = heads.iter().map(|head| head.chars().count()).max().unwrap_or_default();
        for (head, (_, first)) in heads.iter().zip(&groups) {
            write!(f, "\n  {head:<width$}   {}", first.tail())?;
        }
        for image in &self.parked {
            write!(f, "\n  {}", image.line(&self.subject))?;
        }
        self.errands.iter().try_for_each(|ended| write!(f, "\n  {ended}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl fmt::Display for UnloadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is gone after {:.1} ms", self.subject, self.took.as_secs_f64() * 1e3)?;
        for line in self.modules.iter().filter_map(ModuleEnd::line) {
            write!(f, "\n  {line}")?;
        }
        self.errands.iter().try_for_each(|ended| write!(f, "\n  {ended}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl ModuleEnd {
    /// What it left, in one line; none for a module that left nothing.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let counted = [
            (self.thread_locals_run, "thread-local destructor", "run"),
            (self.threads_joined, "finished thread", "joined"),
            (self.threads_evicted, "thread", "evicted"),
            (self.exit_handlers, "exit handler", "run"),
            (self.signals, "signal handler", "taken out"),
            (self.keys, "thread key", "deleted"),
            (self.c_heap_blocks, "C heap block", "freed"),
            (self.fds_closed, "file descriptor", "closed"),
            (self.frames, "unwind table", "taken back"),
            (self.addresses, "address in variables of the C library", "led elsewhere"),
            (self.children_reaped, "ended process", "waited for"),
        ];
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let mut words: Vec<_> = counted
            .into_iter()
            .filter(|(count, ..)| *count != 0)
            .map(|(count, what, done)| format!("{count} {what}{} {done}", plural(count)))
            .collect();
        if self.c_heap_kept_blocks != 0 {
            let (count, bytes) = (self.c_heap_kept_blocks, size(self.c_heap_kept_bytes));
            words.push(format!("{count} C heap block{} kept ({bytes}): {}", plural(count), self.c_heap_kept_for));
        }
        let sizes = [(self.leaked_heap_bytes, "heap"), (self.maps_bytes, "memory maps")];
        let sizes = sizes.into_iter().filter(|(bytes, _)| *bytes != 0);
        words.extend(sizes.map(|(bytes, what)| format!("{} of {what} taken back", size(bytes))));
        if self.maps_unknown != 0 {
            let (count, bytes) = (self.maps_unknown, size(self.maps_unknown_bytes));
            words.push(format!("{count} memory map{} that no hook was told of left ({bytes})", plural(count)));
        }
        words.extend(self.put_back.iter().cloned());
        words.extend(self.fds_left.iter().map(|(fd, to)| format!("fd {fd} left open ({to})")));
        words.extend(self.children_left.iter().map(|(pid, is)| format!("process {pid} not waited for ({is})")));
        (!words.is_empty()).then(|| format!("{} left {}", self.module, words.join(" · ")))
    }
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        whole => format!("{whole} s"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use expect_test::expect;

    use super::{BlockerReport, Departed, Departure, ModuleEnd, ParkedImage, Progress, UnloadTicket};
    use crate::bridge::tasks::ErrandCount;
    use crate::lease::{Blocker, LeaseKind, Leases};
    use crate::load::state::ContextState;

    const LONG: Duration = Duration::from_secs(60);

    /// Leases are all that keeps it.
    struct Held(std::sync::Arc<Leases>);

    impl Departure for Held {
        fn advance(&mut self) -> Progress {
            match self.0.count() {
                0 => Progress::Ended(Departed {
                    modules: vec![ModuleEnd { module: "m".into(), ..ModuleEnd::default() }],
                    parked: Vec::new(),
                }),
                _ => Progress::Waiting { blockers: self.0.report(), drained: true },
            }
        }

        fn park(&mut self) -> Departed {
            let reason = "somebody holds it".to_owned();
            let parked = vec![ParkedImage { module: "m".into(), file: "m.so".into(), reason }];
            Departed { modules: Vec::new(), parked }
        }
    }

    fn held() -> (UnloadTicket, crate::lease::Lease) {
        let leases = Leases::new("m");
        let lease = leases.take(LeaseKind::Call, "nm:/m:T:f").expect("it is open");
        (UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Held(leases))), lease)
    }

    #[test]
    fn who_waits_for_a_blocked_unload_is_told_who_keeps_it_and_gets_the_end_once_that_is_over() {
        let (ticket, lease) = held();
        let blocked = ticket.wait(Duration::ZERO).expect_err("a lease is held");
        assert_eq!((blocked.state, blocked.blockers.len()), (ContextState::Blocked, 1));
        assert_eq!(blocked.blockers[0].owner, "nm:/m:T:f");
        drop(lease);
        assert_eq!(ticket.state(), ContextState::Blocked, "nobody has looked yet");
        assert_eq!(ticket.wait(LONG).expect("nothing keeps it").modules[0].module, "m");
        assert_eq!((ticket.state(), ticket.report().blockers), (ContextState::Dead, vec![]));
    }

    #[test]
    fn patience_decides_when_waiting_is_called_blocked() {
        let leases = Leases::new("m");
        let lease = leases.take(LeaseKind::Call, "f").expect("it is open");
        let ticket = UnloadTicket::new("generation 3", LONG, Box::new(Held(leases)));
        assert_eq!(ticket.poll(), ContextState::Unloading);
        assert_eq!(ticket.report().blockers.len(), 1);
        drop(lease);
        assert_eq!(ticket.poll(), ContextState::Dead);
    }

    #[test]
    fn threads_may_wait_on_one_ticket_and_all_are_told() {
        let (ticket, lease) = held();
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| ticket.wait(LONG))).collect();
            scope.spawn(|| drop(lease));
            for thread in waiting {
                let report = thread.join().expect("it waits").expect("it is gone");
                assert_eq!(report.modules.len(), 1);
            }
        });
    }

    #[test]
    fn a_parked_unload_ends_the_waiting_of_others_and_stays_parked() {
        let (ticket, lease) = held();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ticket.wait(LONG));
            ticket.park();
            let report = waiting.join().expect("it waits").expect_err("it is parked");
            assert_eq!(report.state, ContextState::Parked);
            assert_eq!(ticket.parked_lines(), ["m of generation 3 stays mapped (m.so): somebody holds it"]);
        });
        drop(lease);
        assert_eq!(ticket.poll(), ContextState::Parked);
    }

    /// A departure that asks its own ticket, as a destructor of a module could through the host.
    struct Nosy(Receiver<UnloadTicket>);

    impl Departure for Nosy {
        fn advance(&mut self) -> Progress {
            let seen = self.0.try_recv().expect("it is there").poll();
            assert_eq!(seen, ContextState::Unloading);
            Progress::Ended(Departed::default())
        }

        fn park(&mut self) -> Departed {
            Departed::default()
        }
    }

    /// A departure that is given up from inside a look at it.
    struct GivesUp(Receiver<UnloadTicket>);

    impl Departure for GivesUp {
        fn advance(&mut self) -> Progress {
            self.0.try_recv().expect("it is there").park();
            Progress::Waiting { blockers: Vec::new(), drained: false }
        }

        fn park(&mut self) -> Departed {
            let image = ParkedImage { module: "m".into(), file: "m.so".into(), reason: "it was given up".into() };
            Departed { modules: Vec::new(), parked: vec![image] }
        }
    }

    #[test]
    fn an_unload_that_is_given_up_from_inside_a_look_is_parked_when_the_look_is_over() {
        let (give, take) = channel();
        let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(GivesUp(take)));
        give.send(ticket.clone()).expect("it listens");
        assert_eq!(ticket.poll(), ContextState::Parked);
        assert_eq!(ticket.parked_lines(), ["m of generation 3 stays mapped (m.so): it was given up"]);
    }

    #[test]
    fn a_look_from_inside_the_unload_only_looks() {
        let (give, take) = channel();
        let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Nosy(take)));
        give.send(ticket.clone()).expect("it listens");
        assert_eq!(ticket.poll(), ContextState::Dead);
    }

    /// A departure whose first look panics.
    struct Panics(bool);

    impl Departure for Panics {
        fn advance(&mut self) -> Progress {
            assert!(std::mem::replace(&mut self.0, true), "a destructor panics");
            Progress::Ended(Departed::default())
        }

        fn park(&mut self) -> Departed {
            Departed::default()
        }
    }

    #[test]
    fn a_look_that_panics_leaves_the_rest_to_the_next() {
        for next in [UnloadTicket::park, |ticket: &UnloadTicket| assert_eq!(ticket.poll(), ContextState::Dead)] {
            let ticket = UnloadTicket::new("generation 3", Duration::ZERO, Box::new(Panics(false)));
            let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ticket.poll()));
            assert!(looked.is_err());
            std::thread::scope(|scope| scope.spawn(|| next(&ticket)).join().expect("it does not wait"));
            assert_ne!(ticket.state(), ContextState::Unloading);
        }
    }

    #[test]
    fn a_blocker_report_reads_as_a_few_lines() {
        let blocker = |kind, owner: &str, thread: &str, age, place: Option<&str>| Blocker {
            kind,
            owner: owner.into(),
            thread: thread.into(),
            age: Duration::from_millis(age),
            place: place.map(str::to_owned),
        };
        let report = BlockerReport {
            subject: "Slim \"reports\"".into(),
            state: ContextState::Blocked,
            since: Duration::from_secs(12),
            blockers: vec![
                blocker(LeaseKind::Call, "nm:/reports:Report:render", "worker-3", 11_800, Some("src/jobs.rs:88")),
                blocker(LeaseKind::Thread, "\"exporter\"", "exporter", 11_900, None),
                blocker(LeaseKind::Call, "nm:/reports:Report:render", "worker-4", 11_700, Some("src/jobs.rs:88")),
            ],
            parked: Vec::new(),
            problems: vec!["an unloading callback of priority 3 panicked: \"no\"".into()],
            errands: vec![ErrandCount {
                kind: LeaseKind::Timer,
                module: "reports".into(),
                place: "src/lib.rs:7".into(),
                count: 2,
            }],
        };
        expect![[r#"
            Slim "reports" is blocked (12 s)
              2 running calls   nm:/reports:Report:render   thread worker-3, 11.8 s, from src/jobs.rs:88
              1 thread          "exporter"   thread exporter, 11.9 s
              2 timers of reports cut short, from src/lib.rs:7
              an unloading callback of priority 3 panicked: "no""#]]
        .assert_eq(&report.to_string());
    }

    #[test]
    fn what_a_module_left_is_one_line_and_nothing_is_no_line() {
        let mut end = ModuleEnd { module: "m".into(), ..ModuleEnd::default() };
        assert_eq!(end.line(), None);
        (end.threads_joined, end.thread_locals_run, end.leaked_heap_bytes) = (1, 2, 3 << 20);
        end.fds_left.push((7, "socket:[1]".into()));
        expect!["m left 2 thread-local destructors run · 1 finished thread joined · 3.0 MiB of heap taken back · fd 7 left open (socket:[1])"]
        .assert_eq(&end.line().expect("it left something"));
    }
}
