//! Running calls as leases that cost next to nothing. Each thread has a row of places in which it says what it is
//! calling; an unload shuts the gate first and then reads the rows of all threads. So a call writes only to
//! memory of its own thread, and no counter is shared.
//!
//! A caller writes its place *before* it looks at the gate, and an unload shuts the gate *before* it looks at the
//! places; all four are sequentially consistent. So either the caller sees a shut gate and goes away, or the unload
//! sees the caller and waits: no call is inside an image that goes. The rows hold numbers only, so that nothing in them
//! can dangle.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use alcedo_abi::stack::StackSpan;
use alcedo_sys::process::{coarse_clock, thread_in_words, thread_number};

use crate::lease::{Blocker, Lease, LeaseKind, Leases, place_of};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError, thread_local};
use crate::thread_stack;

/// Calls into contexts that one thread can have open at once without taking the slower way.
const PLACES: usize = 16;

/// No call: gates are numbered from one.
const EMPTY: u64 = 0;

/// One call that a thread has open.
struct CallerSlot {
    /// The number of the gate; written last, and first taken away.
    gate: AtomicU64,
    /// What is called, as the owner of the gate counts its functions.
    function: AtomicU64,
    /// Nanoseconds of [`coarse_clock`].
    since: AtomicU64,
    /// The call site in the host; none for a call of a module.
    from: Place,
}

/// The calls of one thread.
struct Row {
    thread: Thread,
    number: Option<i32>,
    places: [CallerSlot; PLACES],
}

/// The rows of all living threads that ever called into a context.
static ROWS: Mutex<Vec<Arc<Row>>> = Mutex::new(Vec::new());

/// This thread's row, taken from the list when the thread ends.
struct Own {
    row: Arc<Row>,
    depth: Cell<usize>,
    /// Calls that are leases.
    leases: Cell<usize>,
    /// The stack of the thread. Calls on it end in order; those of a coroutine do not.
    stack: StackSpan,
}

thread_local! {
    static OWN: Own = Own::enlist();
}

impl Own {
    fn enlist() -> Self {
        let place = || CallerSlot {
            gate: AtomicU64::new(EMPTY),
            function: AtomicU64::new(0),
            since: AtomicU64::new(0),
            from: Place::default(),
        };
        let row = Arc::new(Row {
            thread: thread::current(),
            number: thread_number(),
            places: std::array::from_fn(|_| place()),
        });
        rows().push(Arc::clone(&row));
        Self { row, depth: Cell::new(0), leases: Cell::new(0), stack: thread_stack::span() }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // All calls of the thread have returned, or this would not run.
        rows().retain(|row| !Arc::ptr_eq(row, &self.row));
    }
}

fn rows() -> MutexGuard<'static, Vec<Arc<Row>>> {
    ROWS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that a call is open on this thread. Any thread; also while it ends.
pub(crate) fn are_calls_open_here() -> bool {
    OWN.try_with(|own| own.depth.get() + own.leases.get() != 0).unwrap_or(false)
}

/// The gate of one generation: which calls are inside, and whether new ones may enter. Any thread.
pub(crate) struct EntryGate {
    number: u64,
    shut: AtomicBool,
    leases: Arc<Leases>,
}

/// What a call is, for reports.
#[derive(Clone, Copy)]
pub(crate) struct Calling {
    /// The function's number with the owner of the gate.
    pub function: u64,
    /// Where the host called from; none for a call of a module.
    pub from: Option<&'static Location<'static>>,
}

/// A call that has been let in. It ends when this is dropped, on the same thread.
pub(crate) struct Inside<'a> {
    way: Way,
    /// The gate outlives the call, and the call stays on its thread.
    gate: PhantomData<(&'a EntryGate, *const ())>,
}

enum Way {
    /// In this place of the thread's row.
    Slot(usize),
    /// The row is full, the thread is ending, or a coroutine calls: a lease like any other.
    Lease(Option<Lease>),
}

impl EntryGate {
    /// An open gate. Calls that find no place take their lease from `leases`.
    pub(crate) fn new(leases: Arc<Leases>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(EMPTY);
        Self { number: LAST.fetch_add(1, Ordering::Relaxed) + 1, shut: AtomicBool::new(false), leases }
    }

    /// The number by which threads name the gate; never another's, in this process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Lets the calling thread in, unless the gate is shut. `name` is called only where the slower way is taken.
    pub(crate) fn enter(&self, calling: Calling, name: impl FnOnce() -> Arc<str>) -> Option<Inside<'_>> {
        let placed = OWN.try_with(|own| {
            let at = own.depth.get();
            let place = own.row.places.get(at).filter(|_| own.stack.is_here())?;
            let since = u64::try_from(coarse_clock().as_nanos()).unwrap_or(u64::MAX);
            place.function.store(calling.function, Ordering::Relaxed);
            place.since.store(since, Ordering::Relaxed);
            place.from.set(calling.from);
            place.gate.store(self.number, Ordering::SeqCst);
            own.depth.set(at + 1);
            Some(at)
        });
        let inside = match placed {
            Ok(Some(at)) => Inside { way: Way::Slot(at), gate: PhantomData },
            _ => {
                let lease = self.leases.take_at(LeaseKind::Call, name(), calling.from.map(place_of)).ok()?;
                let _ending = OWN.try_with(|own| own.leases.set(own.leases.get() + 1));
                Inside { way: Way::Lease(Some(lease)), gate: PhantomData }
            }
        };
        // Only now: an unload that shuts the gate from here on finds the place.
        (!self.shut.load(Ordering::SeqCst)).then_some(inside)
    }

    /// From now on no call gets in; those inside stay.
    pub(crate) fn shut(&self) {
        self.shut.store(true, Ordering::SeqCst);
    }

    /// The calls inside, longest first. Calls that took the slower way are not among them but among the leases. One
    /// that is being turned away at this very moment may be counted.
    pub(crate) fn inside(&self, name: impl Fn(u64) -> Arc<str>) -> Vec<Blocker> {
        let now = coarse_clock();
        let rows: Vec<_> = rows().clone();
        let mut blockers = Vec::new();
        for row in rows {
            for place in &row.places {
                if place.gate.load(Ordering::SeqCst) != self.number {
                    continue;
                }
                blockers.push(Blocker {
                    kind: LeaseKind::Call,
                    owner: name(place.function.load(Ordering::Relaxed)).to_string(),
                    thread: thread_in_words(row.thread.name(), row.number),
                    age: now.saturating_sub(Duration::from_nanos(place.since.load(Ordering::Relaxed))),
                    place: place.from.get().map(|from| place_of(from).to_string()),
                });
            }
        }
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }

    /// Whether no call is inside.
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        let is_here = |row: &Arc<Row>| row.places.iter().any(|place| place.gate.load(Ordering::SeqCst) == self.number);
        !rows().iter().any(is_here)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        match &mut self.way {
            Way::Slot(at) => {
                let at = *at;
                // The thread-local was there when the call began, and calls end before their thread does.
                let _gone = OWN.try_with(|own| {
                    // A thread that reads it sees all writes of the call.
                    own.row.places[at].gate.store(EMPTY, Ordering::Release);
                    own.depth.set(at);
                });
            }
            Way::Lease(lease) => {
                drop(lease.take());
                let _ending = OWN.try_with(|own| own.leases.set(own.leases.get().saturating_sub(1)));
            }
        }
    }
}

mod place {
    //! Where the one address in a row is followed.
    #![expect(unsafe_code, reason = "a row holds the address of a source location")]

    use std::panic::Location;
    use std::ptr;

    use crate::sync::atomic::{AtomicPtr, Ordering};

    /// A place in a source, or none.
    pub(super) struct Place(AtomicPtr<Location<'static>>);

    impl Default for Place {
        fn default() -> Self {
            Self(AtomicPtr::new(ptr::null_mut()))
        }
    }

    impl Place {
        pub(super) fn set(&self, place: Option<&'static Location<'static>>) {
            self.0.store(place.map_or(ptr::null(), ptr::from_ref).cast_mut(), Ordering::Relaxed);
        }

        pub(super) fn get(&self) -> Option<&'static Location<'static>> {
            // SAFETY: `set` alone writes it, from a reference for good; it begins as null.
            unsafe { self.0.load(Ordering::Relaxed).as_ref() }
        }
    }
}

use place::Place;

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    use super::{Calling, EntryGate, PLACES};
    use crate::lease::Leases;

    #[track_caller]
    fn calling(function: u64) -> Calling {
        Calling { function, from: Some(Location::caller()) }
    }

    fn name(function: u64) -> Arc<str> {
        format!("f{function}").into()
    }

    #[test]
    fn a_call_is_reported_with_function_thread_and_place_until_it_returns() {
        let gate = EntryGate::new(Leases::new("m"));
        let (give, take) = channel();
        std::thread::scope(|scope| {
            let inside = std::thread::Builder::new().name("worker-3".into());
            let (done, wait) = channel::<()>();
            let gate = &gate;
            let thread = inside.spawn_scoped(scope, move || {
                let _inside = gate.enter(calling(7), || name(7)).expect("it is open");
                give.send(()).expect("it listens");
                wait.recv().expect("it says when");
            });
            take.recv().expect("it is inside");
            let found = gate.inside(name);
            assert_eq!((found.len(), found[0].owner.as_str()), (1, "f7"));
            assert!(found[0].thread.starts_with("\"worker-3\" ("), "{found:?}");
            assert!(found[0].place.as_deref().is_some_and(|place| place.contains("entry_gate.rs:")), "{found:?}");
            done.send(()).expect("it waits");
            thread.expect("a thread").join().expect("it ends");
        });
        assert!(gate.is_empty());
    }

    #[test]
    fn a_shut_gate_lets_nobody_in_and_keeps_who_is_inside() {
        let (gate, other) = (EntryGate::new(Leases::new("m")), EntryGate::new(Leases::new("n")));
        let inside = gate.enter(calling(1), || name(1)).expect("it is open");
        gate.shut();
        assert!(gate.enter(calling(2), || name(2)).is_none());
        assert!(other.enter(calling(3), || name(3)).is_some());
        assert!(!gate.is_empty());
        drop(inside);
        assert!(gate.is_empty());
    }

    #[test]
    fn calls_deeper_than_the_row_are_leases() {
        let leases = Leases::new("m");
        let gate = EntryGate::new(Arc::clone(&leases));
        let mut open: Vec<_> = (0..PLACES as u64 + 2).map(|at| gate.enter(calling(at), || name(at))).collect();
        assert_eq!((gate.inside(name).len(), leases.count()), (PLACES, 2));
        while open.pop().is_some() {}
        assert!(gate.is_empty() && leases.count() == 0);
    }

    #[test]
    fn whoever_shuts_the_gate_and_sees_nobody_has_nobody_inside() {
        const ROUNDS: u64 = 200;
        for _ in 0..ROUNDS {
            let gate = EntryGate::new(Leases::new("m"));
            let (gone, entered) = (AtomicBool::new(false), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while let Some(_inside) = gate.enter(calling(1), || name(1)) {
                            assert!(!gone.load(Ordering::SeqCst), "inside, and the image is gone");
                            entered.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                while entered.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                gate.shut();
                while !gate.is_empty() {
                    std::thread::yield_now();
                }
                gone.store(true, Ordering::SeqCst);
            });
        }
    }
}
