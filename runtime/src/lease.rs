//! Leases: each lease keeps the code of a module mapped, and names the reason. An image is unmapped only when no lease remains. The report
//! of a blocked unload lists the holder, thread, duration and source location of each lease.
//!
//! Only host code drops leases, so a thread that drops the last lease does not return into the unmapped image.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::{Duration, Instant};

use alcedo_sys::process::{describe_thread, thread_number};
use serde::{Deserialize, Serialize};
use slotmap::{DefaultKey, SlotMap};

use crate::sync::{Arc, Mutex, MutexGuard, lock, thread};

named! {
    /// Kind of lease on a module's code.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{LeaseKind, Runtime};
    ///
    /// fn threads(runtime: &Runtime) -> usize {
    ///     let leases = runtime.unloads().leases();
    ///     leases.iter().filter(|lease| lease.blocker.kind == LeaseKind::Thread).count()
    /// }
    ///
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// assert_eq!(threads(&Runtime::builder().build()?), 0);
    /// assert_eq!(LeaseKind::Timer.to_string(), "timer");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum LeaseKind {
        /// A call that has not returned.
        Call = "running call",
        /// A black conjugate that plugin code still owns.
        Black = "black conjugate",
        /// A borrow of the module's data by the host.
        Borrow = "borrowed data",
        /// A thread that the module started.
        Thread = "thread",
        /// A contextual scope (`ContextScope` or `Scoped`) that code of the module has opened but not closed.
        Scope = "scope",
        /// A module that depends on this module.
        Dependent = "dependent module",
        /// A delegate bound to the module's code.
        Delegate = "delegate",
        /// A timer that may still fire.
        Timer = "timer",
        /// A closure queued for the game thread.
        Posted = "posted closure",
        /// An asynchronous task that has not finished.
        Task = "task",
        /// A destructor of a thread-local variable. Only the thread that owns the variable can run the destructor.
        ThreadLocal = "thread-local destructor",
        /// A plugin part whose finalizer has not returned.
        Finalizer = "finalizer",
        /// A handler that the module registered in the process, such as a signal handler.
        Handler = "handler",
        /// An open stream of the C library that writes into memory of the module.
        Stream = "stream",
        /// An address in the module that is stored in memory that outlives the module, such as a callback table of a library.
        Reference = "reference",
        /// An io_uring of the module. The kernel may write to memory of the module through this io_uring.
        Ring = "io_uring",
        /// An alternate signal stack that the module has set for a thread. Only this thread can restore the previous stack.
        SignalStack = "signal stack",
        /// An asynchronous request from the module that a thread of the C library is processing.
        Request = "request",
        /// A C library that is bound to a class of the module. The C library stays open while one of its functions is in use.
        Library = "bound library",
        /// An exit hook that a safe point will run after many finalizers.
        ExitHook = "exit hook",
    }
}

impl LeaseKind {
    /// Returns the name of this kind of lease, in the plural if `count` is not 1.
    pub(crate) fn counted(self, count: usize) -> String {
        match (self, count) {
            (_, 1) | (Self::Borrow, _) => self.to_string(),
            (Self::Library, _) => "bound libraries".to_owned(),
            _ => format!("{self}s"),
        }
    }
}

/// Description of a lease that blocks an unload.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// let _lease = reports.lease("a page is being sent")?;
/// for blocker in reports.held_by() {
///     assert!(blocker.to_string().contains("a page is being sent"));
/// }
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Blocker {
    /// Kind of the lease.
    pub kind: LeaseKind,
    /// Holder of the lease: the called function, the name of the thread, or the dependent module.
    pub owner: String,
    /// Thread that took the lease, by name and number if known, such as `"worker-3" (4711)`.
    pub thread: String,
    /// Time since the lease was taken.
    pub age: Duration,
    /// Source file and line at which the lease was taken, if known.
    pub place: Option<String>,
}

impl Blocker {
    /// Formats holder, thread, duration and source location, but not the kind.
    pub(crate) fn tail(&self) -> String {
        self.described(&format!(", {:.1} s", self.age.as_secs_f64()))
    }

    /// Formats the blocker without its duration, for messages that may be displayed much later.
    pub(crate) fn lasting(&self) -> String {
        format!("{} {}", self.kind, self.described(""))
    }

    fn described(&self, age: &str) -> String {
        let Self { owner, thread, place, .. } = self;
        let from = place.as_ref().map(|place| format!(", from {place}")).unwrap_or_default();
        format!("{owner}   thread {thread}{age}{from}")
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<16} {}", self.kind, self.tail())
    }
}

/// A lease that blocks the unload of a Master module.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// for held in runtime.unloads().leases() {
///     println!("{} keeps {} mapped", held.blocker.owner, held.module);
/// }
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleBlocker {
    /// Name of the module.
    pub module: String,
    /// The lease that keeps the module mapped.
    pub blocker: Blocker,
}

impl fmt::Display for ModuleBlocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.module, self.blocker)
    }
}

/// Error of a lease request: the module or context is already unloading.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// use alcedo_runtime::Error;
///
/// match runtime.unloads().lease("weather", "the renderer draws its clouds") {
///     Err(Error::Sealed(sealed)) => println!("{} ends since {:?}", sealed.owner, sealed.since),
///     lease => drop(lease?),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{owner} has been unloading for {:.1} s and accepts no new {kind}: use its replacement", since.as_secs_f64())]
pub struct Sealed {
    /// Name of the module or context.
    pub owner: String,
    /// Requested kind of lease.
    pub kind: LeaseKind,
    /// Time since the unload began.
    pub since: Duration,
}

/// Lease, or poll of an unload, with its thread and the time of its start.
#[derive(Clone)]
pub(crate) struct Entry {
    kind: LeaseKind,
    owner: Arc<str>,
    thread: thread::Thread,
    number: Option<i32>,
    since: Instant,
    place: Option<Arc<str>>,
}

pub(crate) fn location_text(at: &Location<'_>) -> Arc<str> {
    format!("{}:{}", at.file(), at.line()).into()
}

thread_local! {
    /// Call site, in host code, of the public function that runs on this thread.
    static CALLED_FROM: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// Records that a public function of the runtime is running on this thread. Dropping this value restores the previous record.
pub(crate) struct HostVerb(Option<&'static Location<'static>>, PhantomData<*const ()>);

/// Records that the calling public function is running. Leases that this public function takes contain its call site. Must be called
/// directly in the public function.
#[track_caller]
pub(crate) fn host_verb() -> HostVerb {
    // Reads the location outside of the closure, because in the closure `Location::caller` would return a line of this function.
    let caller = Location::caller();
    HostVerb(CALLED_FROM.with(|location| location.replace(Some(caller))), PhantomData)
}

impl Drop for HostVerb {
    fn drop(&mut self) {
        // Fails only if the thread is ending. An ending thread takes no more leases.
        let _gone = CALLED_FROM.try_with(|location| location.set(self.0));
    }
}

#[derive(Default)]
struct Held {
    entries: SlotMap<DefaultKey, Entry>,
    sealed: Option<Instant>,
}

/// Leases on one module or load context. Can be used on any thread.
pub(crate) struct Leases {
    owner: Arc<str>,
    held: Mutex<Held>,
}

impl Leases {
    /// Returns an empty set of leases. `owner` is the name of the module or context in errors and reports.
    #[must_use]
    pub(crate) fn new(owner: impl Into<Arc<str>>) -> Arc<Self> {
        Arc::new(Self { owner: owner.into(), held: Mutex::default() })
    }

    /// Returns the name of the module or context.
    #[must_use]
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// Takes a lease for `owner` and records the caller's location.
    ///
    /// # Errors
    /// Returns [`Sealed`] if the unload has begun.
    #[track_caller]
    pub(crate) fn take(self: &Arc<Self>, kind: LeaseKind, owner: impl Into<Arc<str>>) -> Result<Lease, Sealed> {
        self.take_at(kind, owner, Some(location_text(Location::caller())))
    }

    /// Takes a lease for `owner` inside a public function. Records the call site in the host that the innermost [`host_verb`] on this
    /// thread has stored. Records no location outside of public functions.
    ///
    /// # Errors
    /// Returns [`Sealed`] if the unload has begun.
    pub(crate) fn take_inside(self: &Arc<Self>, kind: LeaseKind, owner: impl Into<Arc<str>>) -> Result<Lease, Sealed> {
        self.take_at(kind, owner, CALLED_FROM.with(Cell::get).map(location_text))
    }

    /// Takes a lease for `owner` with the source location `place`.
    ///
    /// # Errors
    /// Returns [`Sealed`] if the unload has begun.
    pub(crate) fn take_at(
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
        Ok(Lease { leases: Arc::clone(self), key, also: Vec::new() })
    }

    /// Takes a lease for `owner`, even if the leases are sealed. The owner must drop the lease during the unload.
    pub(crate) fn take_in_unload(
        self: &Arc<Self>,
        kind: LeaseKind,
        owner: impl Into<Arc<str>>,
        place: Option<Arc<str>>,
    ) -> Lease {
        let key = self.lock().entries.insert(Entry::new(kind, owner.into(), place));
        Lease { leases: Arc::clone(self), key, also: Vec::new() }
    }

    /// Seals the leases: later requests for new leases fail, and current leases remain. Has no effect if the leases are already sealed.
    pub(crate) fn seal(&self) {
        self.lock().sealed.get_or_insert_with(Instant::now);
    }

    /// Accepts new leases again. Called after an unload was aborted.
    pub(crate) fn unseal(&self) {
        self.lock().sealed = None;
    }

    /// Returns `true` if requests for new leases are rejected.
    #[must_use]
    pub(crate) fn is_sealed(&self) -> bool {
        self.lock().sealed.is_some()
    }

    /// Returns the number of held leases.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// Returns all held leases, longest first.
    #[must_use]
    pub(crate) fn report(&self) -> Vec<Blocker> {
        let held = self.lock();
        let mut blockers: Vec<_> = held.entries.values().map(Entry::to_blocker).collect();
        drop(held);
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leases").field("owner", &self.owner).field("held", &self.count()).finish_non_exhaustive()
    }
}

impl Entry {
    pub(crate) fn new(kind: LeaseKind, owner: Arc<str>, place: Option<Arc<str>>) -> Self {
        Self { kind, owner, thread: thread::current(), number: thread_number(), since: Instant::now(), place }
    }

    /// Checks if the current thread created the entry.
    pub(crate) fn is_here(&self) -> bool {
        self.thread.id() == thread::current().id()
    }

    pub(crate) fn to_blocker(&self) -> Blocker {
        Blocker {
            kind: self.kind,
            owner: self.owner.to_string(),
            thread: describe_thread(self.thread.name(), self.number),
            age: self.since.elapsed(),
            place: self.place.as_deref().map(str::to_owned),
        }
    }
}

/// Keeps the code of a module mapped until this value is dropped. Can be dropped on any thread.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// let lease = reports.lease("a page is being sent")?;
/// // The thread that sends the page drops the lease.
/// std::thread::spawn(move || drop(lease)).join().unwrap();
/// assert!(reports.held_by().is_empty());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[must_use = "a lease that is dropped immediately has no effect"]
pub struct Lease {
    leases: Arc<Leases>,
    key: DefaultKey,
    also: Vec<Lease>,
}

impl Lease {
    /// Takes a further lease on the module or context that this lease holds. Succeeds even after sealing, because the holder of a lease may
    /// finish its operation.
    pub(crate) fn again(&self, kind: LeaseKind, owner: impl Into<Arc<str>>, place: Option<Arc<str>>) -> Self {
        self.leases.take_in_unload(kind, owner, place)
    }

    pub(crate) fn is_on(&self, leases: &Leases) -> bool {
        std::ptr::eq(&*self.leases, leases)
    }

    /// Merges leases into one lease. Dropping the result drops all merged leases. Returns `None` for an empty list.
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

    #[test]
    fn a_lease_is_reported_until_it_is_dropped() {
        let leases = Leases::new("m");
        let lease = leases.take(LeaseKind::Call, "nm:/m:T:f").expect("it is open");
        let report = leases.report();
        assert_eq!((report.len(), report[0].kind, report[0].owner.as_str()), (1, LeaseKind::Call, "nm:/m:T:f"));
        assert!(report[0].place.as_deref().is_some_and(|place| place.contains("lease.rs:")), "{report:?}");
        drop(lease);
        assert_eq!(leases.count(), 0);
    }

    #[test]
    fn the_lease_held_longest_is_reported_first() {
        let leases = Leases::new("m");
        let first = leases.take(LeaseKind::Call, "first").expect("it is open");
        let _second = leases.take(LeaseKind::Call, "second").expect("it is open");
        drop(first);
        // The third lease reuses the slot of the first lease.
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
        assert!(
            refused.starts_with("Slim \"m\" has been unloading for 0.0 s and accepts no new running call"),
            "{refused}"
        );
        assert_eq!(leases.count(), 1);
        leases.unseal();
        assert!(leases.take(LeaseKind::Call, "f").is_ok());
        drop(held);
    }
}
