//! Why a module's code must stay mapped: counted, named reasons. An image is unmapped only when none is left; the
//! report of a wait for that names the holder, its thread, for how long, and where the reason was made.
//!
//! Leases end in host code, so that no return address into the image is left when the last one does.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::{Duration, Instant};

use alcedo_sys::process::{thread_in_words, thread_number};
use serde::{Deserialize, Serialize};
use slotmap::{DefaultKey, SlotMap};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, thread};

/// What sort of thing keeps a module's code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeaseKind {
    /// A call that has not returned.
    Call,
    /// A black conjugate that plugin code still holds.
    Black,
    /// Data of the module that the host has borrowed.
    Borrow,
    /// A thread that the module started.
    Thread,
    /// A contextual scope that was not left.
    Scope,
    /// Another module that depends on this one.
    Dependent,
    /// A delegate bound to the module's code.
    Delegate,
    /// A timer that may still fire.
    Timer,
    /// A closure that waits to run on the game thread.
    Posted,
    /// An asynchronous task that has not ended.
    Task,
    /// The destructor of a thread-local that only its own thread can run.
    ThreadLocal,
    /// A plugin part whose finalizer has not returned.
    Finalizer,
    /// A handler that the module has put somewhere in the process: a signal's, for one.
    Handler,
    /// An open stream of the C library that writes into memory of the module.
    Stream,
    /// An address of the module that stands in memory which stays, as a callback in a table of a library does.
    Reference,
    /// An io_uring of the module, for which the kernel may write into its memory.
    Ring,
    /// The alternate signal stack that the module has set for a thread, and that only this thread can give back.
    SignalStack,
    /// A request of the module that a thread of the C library works on.
    Request,
    /// A C library that a class of the module is bound to, and that is open as long as something holds one of its functions.
    Library,
}

impl fmt::Display for LeaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Call => "running call",
            Self::Black => "black conjugate",
            Self::Borrow => "borrowed data",
            Self::Thread => "thread",
            Self::Scope => "scope",
            Self::Dependent => "dependent module",
            Self::Delegate => "delegate",
            Self::Timer => "timer",
            Self::Posted => "posted closure",
            Self::Task => "task",
            Self::ThreadLocal => "thread-local destructor",
            Self::Finalizer => "finalizer",
            Self::Handler => "handler",
            Self::Stream => "stream",
            Self::Reference => "reference",
            Self::Ring => "io_uring",
            Self::SignalStack => "signal stack",
            Self::Request => "request",
            Self::Library => "bound library",
        })
    }
}

impl LeaseKind {
    /// The word for so many of them.
    pub(crate) fn counted(self, count: usize) -> String {
        match (self, count) {
            (_, 1) | (Self::Borrow, _) => self.to_string(),
            (Self::Library, _) => "bound libraries".to_owned(),
            _ => format!("{self}s"),
        }
    }
}

/// One lease, as a blocker report shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Blocker {
    /// What sort of thing it is.
    pub kind: LeaseKind,
    /// The holder: the function called, the thread's name, the module that depends.
    pub owner: String,
    /// The thread it was taken on, by name and number as far as they are known: `"worker-3" (4711)`.
    pub thread: String,
    /// How long it has been held.
    pub age: Duration,
    /// Source file and line, as far as they are known.
    pub place: Option<String>,
}

impl Blocker {
    /// Holder, thread, duration and place: what follows the kind in a line.
    pub(crate) fn tail(&self) -> String {
        let Self { owner, thread, age, place, .. } = self;
        let from = place.as_ref().map(|place| format!(", from {place}")).unwrap_or_default();
        format!("{owner}   thread {thread}, {:.1} s{from}", age.as_secs_f64())
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<16} {}", self.kind, self.tail())
    }
}

/// A lease on a module of the living Master.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleBlocker {
    /// The module.
    pub module: String,
    /// Why it would have to stay mapped.
    pub blocker: Blocker,
}

impl fmt::Display for ModuleBlocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.module, self.blocker)
    }
}

/// No lease is given any more: the context has begun to unload.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{owner} is unloading since {:.1} s and takes no new {kind}: use what replaced it", since.as_secs_f64())]
pub struct Sealed {
    /// Whose leases they are.
    pub owner: String,
    /// What was requested.
    pub kind: LeaseKind,
    /// For how long it has been unloading.
    pub since: Duration,
}

struct Entry {
    kind: LeaseKind,
    owner: Arc<str>,
    thread: thread::Thread,
    number: Option<i32>,
    since: Instant,
    place: Option<Arc<str>>,
}

/// How reports name a place in a source.
pub(crate) fn place_of(at: &Location<'_>) -> Arc<str> {
    format!("{}:{}", at.file(), at.line()).into()
}

thread_local! {
    /// Where the author of the host has called what this thread is doing.
    static ASKED_AT: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// A verb of the host is under way on this thread until this is dropped.
pub(crate) struct HostVerb(Option<&'static Location<'static>>, PhantomData<*const ()>);

/// Opens one: leases that are taken inside have the place of its caller. Called by the public function itself.
#[track_caller]
pub(crate) fn host_verb() -> HostVerb {
    // Inside of a closure it would be this very line.
    let caller = Location::caller();
    HostVerb(ASKED_AT.with(|asked| asked.replace(Some(caller))), PhantomData)
}

impl Drop for HostVerb {
    fn drop(&mut self) {
        // A thread that ends has no lease to take.
        let _gone = ASKED_AT.try_with(|asked| asked.set(self.0));
    }
}

#[derive(Default)]
struct Held {
    entries: SlotMap<DefaultKey, Entry>,
    sealed: Option<Instant>,
}

/// The leases on one module, or on one load context. Any thread.
pub struct Leases {
    owner: Arc<str>,
    held: Mutex<Held>,
    changed: Condvar,
    given: AtomicU64,
}

impl Leases {
    /// No lease yet on `owner`, which is how errors and reports name it.
    #[must_use]
    pub fn new(owner: impl Into<Arc<str>>) -> Arc<Self> {
        Arc::new(Self {
            owner: owner.into(),
            held: Mutex::default(),
            changed: Condvar::new(),
            given: AtomicU64::new(0),
        })
    }

    /// Whose leases they are.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Takes a lease for `owner`, remembering where it was taken in the host's source.
    ///
    /// # Errors
    /// [`Sealed`] once the unload has begun.
    #[track_caller]
    pub fn take(self: &Arc<Self>, kind: LeaseKind, owner: impl Into<Arc<str>>) -> Result<Lease, Sealed> {
        self.take_at(kind, owner, Some(place_of(Location::caller())))
    }

    /// Takes a lease for `owner`, deep inside of a public function: the place is where the host has called that
    /// function, as the innermost [`host_verb`] of this thread says, and none where there is no such call.
    ///
    /// # Errors
    /// [`Sealed`] once the unload has begun.
    pub(crate) fn take_inside(self: &Arc<Self>, kind: LeaseKind, owner: impl Into<Arc<str>>) -> Result<Lease, Sealed> {
        self.take_at(kind, owner, ASKED_AT.with(Cell::get).map(place_of))
    }

    /// Takes a lease for `owner`, made at `place`.
    ///
    /// # Errors
    /// [`Sealed`] once the unload has begun.
    pub fn take_at(
        self: &Arc<Self>,
        kind: LeaseKind,
        owner: impl Into<Arc<str>>,
        place: Option<Arc<str>>,
    ) -> Result<Lease, Sealed> {
        let mut held = self.lock();
        if let Some(since) = held.sealed {
            return Err(Sealed { owner: self.owner.to_string(), kind, since: since.elapsed() });
        }
        let key = held.entries.insert(Entry::new(kind, owner.into(), place));
        self.given.fetch_add(1, Ordering::Relaxed);
        Ok(Lease { leases: Arc::clone(self), key, also: Vec::new() })
    }

    /// From now on none is given; those that are held stay. Without effect on what is sealed already.
    pub fn seal(&self) {
        self.lock().sealed.get_or_insert_with(Instant::now);
    }

    /// Leases are given again: the unload did not come to pass.
    pub fn unseal(&self) {
        self.lock().sealed = None;
    }

    /// Whether no new one is given.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.lock().sealed.is_some()
    }

    /// How many are held.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// How many were given since the start.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// Every lease that is held, longest first.
    #[must_use]
    pub fn report(&self) -> Vec<Blocker> {
        let held = self.lock();
        let mut blockers: Vec<_> = held.entries.values().map(Entry::to_blocker).collect();
        drop(held);
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }

    /// Waits until none is held, or `deadline` has passed; returns whether none is.
    pub fn wait_free(&self, deadline: Duration) -> bool {
        let until = crate::deadline::after(deadline);
        let mut held = self.lock();
        while !held.entries.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            held = self.changed.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("owner", &self.owner).field("held", &self.count()).finish_non_exhaustive()
    }
}

impl Entry {
    fn new(kind: LeaseKind, owner: Arc<str>, place: Option<Arc<str>>) -> Self {
        Self { kind, owner, thread: thread::current(), number: thread_number(), since: Instant::now(), place }
    }

    fn to_blocker(&self) -> Blocker {
        Blocker {
            kind: self.kind,
            owner: self.owner.to_string(),
            thread: thread_in_words(self.thread.name(), self.number),
            age: self.since.elapsed(),
            place: self.place.as_deref().map(str::to_owned),
        }
    }
}

/// A reason why a module's code stays mapped; it ends when this is dropped, on any thread.
#[must_use = "a lease that is dropped at once keeps nothing"]
pub struct Lease {
    leases: Arc<Leases>,
    key: DefaultKey,
    /// Leases on others that end with it.
    also: Vec<Lease>,
}

impl Lease {
    /// Takes another lease on the same leases, also once they are sealed: the holder of this one may go on.
    pub(crate) fn again(&self, kind: LeaseKind, owner: impl Into<Arc<str>>, place: Option<Arc<str>>) -> Self {
        let mut held = self.leases.lock();
        let key = held.entries.insert(Entry::new(kind, owner.into(), place));
        self.leases.given.fetch_add(1, Ordering::Relaxed);
        Self { leases: Arc::clone(&self.leases), key, also: Vec::new() }
    }

    /// Checks that it is a lease on `leases`.
    pub(crate) fn is_on(&self, leases: &Leases) -> bool {
        std::ptr::eq(&*self.leases, leases)
    }

    /// One that ends several; none of none.
    pub(crate) fn of_all(leases: Vec<Self>) -> Option<Self> {
        let mut leases = leases.into_iter();
        let mut first = leases.next()?;
        first.also.extend(leases);
        Some(first)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let ended = self.leases.lock().entries.remove(self.key);
        debug_assert!(ended.is_some(), "a lease ends once");
        self.leases.changed.notify_all();
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a lease on {}", self.leases.owner)?;
        self.also.iter().try_for_each(|also| write!(f, " and {}", also.leases.owner))
    }
}

#[cfg(test)]
mod tests {
    use super::{LeaseKind, Leases};
    use std::time::{Duration, Instant};

    #[test]
    fn a_lease_is_reported_until_it_is_dropped() {
        let leases = Leases::new("m");
        let lease = leases.take(LeaseKind::Call, "nm:/m:T:f").expect("it is open");
        let report = leases.report();
        assert_eq!((report.len(), report[0].kind, report[0].owner.as_str()), (1, LeaseKind::Call, "nm:/m:T:f"));
        assert!(report[0].place.as_deref().is_some_and(|place| place.contains("lease.rs:")), "{report:?}");
        assert!(!leases.wait_free(Duration::ZERO));
        drop(lease);
        assert_eq!((leases.count(), leases.given()), (0, 1));
        assert!(leases.wait_free(Duration::ZERO));
    }

    #[test]
    fn the_lease_held_longest_is_reported_first() {
        let leases = Leases::new("m");
        let first = leases.take(LeaseKind::Call, "first").expect("it is open");
        let _second = leases.take(LeaseKind::Call, "second").expect("it is open");
        drop(first);
        // Takes the place of the first in the row.
        let _third = leases.take(LeaseKind::Call, "third").expect("it is open");
        let owners: Vec<_> = leases.report().into_iter().map(|blocker| blocker.owner).collect();
        assert_eq!(owners, ["second", "third"]);
    }

    #[test]
    fn sealed_leases_are_refused_and_the_held_ones_stay() {
        let leases = Leases::new("Slim \"m\"");
        let held = leases.take(LeaseKind::Scope, "s").expect("it is open");
        leases.seal();
        let refused = leases.take(LeaseKind::Call, "f").expect_err("it is sealed").to_string();
        assert!(refused.starts_with("Slim \"m\" is unloading since 0.0 s and takes no new running call"), "{refused}");
        assert_eq!(leases.count(), 1);
        leases.unseal();
        assert!(leases.take(LeaseKind::Call, "f").is_ok());
        drop(held);
    }

    #[test]
    fn a_wait_ends_with_the_last_lease_and_not_with_its_deadline() {
        let (leases, begun) = (Leases::new("m"), Instant::now());
        let lease = leases.take(LeaseKind::Thread, "worker").expect("it is open");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                drop(lease);
            });
            assert!(leases.wait_free(Duration::from_secs(60)));
        });
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
