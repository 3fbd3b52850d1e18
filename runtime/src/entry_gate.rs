//! Counts active calls without a shared counter. Each thread has a record with slots for its open calls. A call only writes to the record
//! of the calling thread. An unload shuts the gate, and then reads the records of all threads.
//!
//! A caller writes its slot *before* it reads the gate. An unload shuts the gate *before* it reads the slots. All four accesses are
//! sequentially consistent. Two outcomes are possible: the caller reads that the gate is shut, and returns, or the unload reads the slot,
//! and waits. Therefore no call runs in an image when the image is unmapped. The records stay valid after an unload, because they contain
//! only numbers and `'static` locations of host code.
//!
//! A gate rejects a call if the stack of the thread is nearly exhausted. Unbounded recursion of calls by name therefore returns an error,
//! as in modules of the Master.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use alcedo_abi::stack::StackSpan;
use alcedo_sys::process::{coarse_clock, describe_thread, thread_number};

use crate::lease::{Blocker, Lease, LeaseKind, Leases, location_text};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Mutex, MutexGuard, lock, thread_local};
use crate::thread_stack;

/// Maximum number of open calls that the record of a thread contains. Further calls take the slow path.
const SLOTS: usize = 16;

/// Number in a slot without a call, which is the initial value of the slot.
const EMPTY: u64 = 0;

/// Slot for one open call of a thread.
#[derive(Default)]
struct CallerSlot {
    /// Number of the gate that admitted the call. Written last and cleared first.
    gate: AtomicU64,
    /// Id of the called function. The owner of the gate assigns these ids.
    function: AtomicU64,
    /// Start of the call, in nanoseconds of [`coarse_clock`].
    since: AtomicU64,
    /// Call site in host code; null if a module made the call.
    from: CallSite,
}

struct Row {
    thread: Thread,
    number: Option<i32>,
    slots: [CallerSlot; SLOTS],
}

/// Records of all live threads that have called into a context.
static ROWS: Mutex<Vec<Arc<Row>>> = Mutex::new(Vec::new());

/// Record of the current thread. Removed from the list when the thread ends.
struct Own {
    row: Arc<Row>,
    depth: Cell<usize>,
    /// Number of open calls on the slow path, each of which holds a lease.
    leases: Cell<usize>,
    /// Stack of the thread. Only calls on this stack use `slots`, because these calls return in reverse order. Calls on the stack of a
    /// coroutine may return in any order, and take a lease.
    stack: StackSpan,
}

thread_local! {
    static OWN: Own = Own::enlist();
}

impl Own {
    fn enlist() -> Self {
        let row = Arc::new(Row { thread: thread::current(), number: thread_number(), slots: Default::default() });
        rows().push(Arc::clone(&row));
        Self { row, depth: Cell::new(0), leases: Cell::new(0), stack: thread_stack::span() }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // All calls of the thread have returned, because the record is dropped only when its thread ends.
        rows().retain(|row| !Arc::ptr_eq(row, &self.row));
    }
}

fn rows() -> MutexGuard<'static, Vec<Arc<Row>>> {
    lock(&ROWS)
}

/// Returns the number of open calls of the current thread. Can be called on any thread, even while the thread ends.
pub(crate) fn calls_open_here() -> usize {
    OWN.try_with(|own| own.depth.get() + own.leases.get()).unwrap_or(0)
}

/// Gate of one generation: admits calls, and lists the admitted calls. Can be used on any thread.
pub(crate) struct EntryGate {
    number: u64,
    shut: AtomicBool,
    /// Number of stack bytes that each call must leave free on its thread.
    reserve: usize,
    leases: Arc<Leases>,
}

/// Error for a rejected call: the stack of the thread is nearly exhausted.
#[derive(Debug)]
pub(crate) struct NoRoom {
    /// Number of open calls of the thread.
    pub depth: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Calling {
    /// Id of the called function. The owner of the gate assigns these ids.
    pub function: u64,
    /// Call site in host code; `None` if a module made the call.
    pub from: Option<&'static Location<'static>>,
}

/// An admitted call. Dropping this value ends the call. Must be dropped on the thread that began the call.
pub(crate) struct Inside<'a> {
    admission: Admission,
    /// Restricts this value to the lifetime of the gate, and to one thread.
    gate: PhantomData<(&'a EntryGate, *const ())>,
}

enum Admission {
    /// Index of the slot in the thread's record.
    Slot(usize),
    /// Slow path: a lease admits the call. Used if the record of the thread is full, the thread is ending, the caller runs in a coroutine,
    /// or the caller passes a lease.
    Lease(Option<Lease>),
}

impl EntryGate {
    /// Returns an open gate. Calls must leave `reserve` bytes of the stack free. Calls on the slow path take leases from `leases`.
    pub(crate) fn new(leases: Arc<Leases>, reserve: usize) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(EMPTY);
        Self { number: LAST.fetch_add(1, Ordering::Relaxed) + 1, shut: AtomicBool::new(false), reserve, leases }
    }

    /// Returns the number that identifies the gate in the slots of threads. Unique in the process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Admits a call of the current thread. Returns `None` if the gate is shut, and [`NoRoom`] if the stack of the thread is nearly
    /// exhausted. Only the slow path calls the closure `name`.
    pub(crate) fn enter(
        &self,
        calling: Calling,
        name: impl FnOnce() -> Arc<str>,
    ) -> Result<Option<Inside<'_>>, NoRoom> {
        let taken = OWN.try_with(|own| {
            let at = own.depth.get();
            let slot = own.row.slots.get(at).filter(|_| own.stack.above(self.reserve).is_here())?;
            let since = u64::try_from(coarse_clock().as_nanos()).unwrap_or(u64::MAX);
            slot.function.store(calling.function, Ordering::Relaxed);
            slot.since.store(since, Ordering::Relaxed);
            slot.from.set(calling.from);
            slot.gate.store(self.number, Ordering::SeqCst);
            own.depth.set(at + 1);
            Some(at)
        });
        let inside = match taken {
            Ok(Some(at)) => Inside { admission: Admission::Slot(at), gate: PhantomData },
            _ => match self.leases.take_at(LeaseKind::Call, name(), calling.from.map(location_text)) {
                Ok(lease) => self.enter_by(lease)?,
                Err(_sealed) => return Ok(None),
            },
        };
        // Reads the flag after writing the slot. If an unload shuts the gate after this read, the unload later reads this slot, and waits
        // for the call.
        Ok((!self.shut.load(Ordering::SeqCst)).then_some(inside))
    }

    /// Admits a call of the current thread, even if the gate is shut. `lease` keeps the code mapped during the call. Returns [`NoRoom`] if
    /// the stack of the thread is nearly exhausted.
    pub(crate) fn enter_by(&self, lease: Lease) -> Result<Inside<'_>, NoRoom> {
        if thread_stack::is_exhausted(self.reserve) {
            return Err(NoRoom { depth: calls_open_here() });
        }
        let _ending = OWN.try_with(|own| own.leases.set(own.leases.get() + 1));
        Ok(Inside { admission: Admission::Lease(Some(lease)), gate: PhantomData })
    }

    /// Rejects further calls. Admitted calls continue.
    pub(crate) fn shut(&self) {
        self.shut.store(true, Ordering::SeqCst);
    }

    /// Returns the admitted calls on the fast path, longest first. The report of leases lists the calls on the slow path. The result may
    /// include a call that the gate then rejects.
    pub(crate) fn inside(&self, name: impl Fn(u64) -> Arc<str>) -> Vec<Blocker> {
        let now = coarse_clock();
        let rows: Vec<_> = rows().clone();
        let mut blockers = Vec::new();
        for row in rows {
            for slot in &row.slots {
                if slot.gate.load(Ordering::SeqCst) != self.number {
                    continue;
                }
                blockers.push(Blocker {
                    kind: LeaseKind::Call,
                    owner: name(slot.function.load(Ordering::Relaxed)).to_string(),
                    thread: describe_thread(row.thread.name(), row.number),
                    age: now.saturating_sub(Duration::from_nanos(slot.since.load(Ordering::Relaxed))),
                    place: slot.from.get().map(|from| location_text(from).to_string()),
                });
            }
        }
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        match &mut self.admission {
            Admission::Slot(at) => {
                let at = *at;
                // Cannot fail: the thread-local variable existed when the call began, and exists until all calls of the thread have
                // returned.
                let _gone = OWN.try_with(|own| {
                    // A thread that reads the empty slot also observes all earlier writes of the call.
                    own.row.slots[at].gate.store(EMPTY, Ordering::Release);
                    own.depth.set(at);
                });
            }
            Admission::Lease(lease) => {
                drop(lease.take());
                let _ending = OWN.try_with(|own| own.leases.set(own.leases.get().saturating_sub(1)));
            }
        }
    }
}

mod call_site {
    //! Stores the pointer to a source location in a slot.
    #![expect(unsafe_code, reason = "a row holds the address of a source location")]

    use std::panic::Location;
    use std::ptr;

    use crate::sync::atomic::{AtomicPtr, Ordering};

    #[derive(Default)]
    pub(super) struct CallSite(AtomicPtr<Location<'static>>);

    impl CallSite {
        pub(super) fn set(&self, location: Option<&'static Location<'static>>) {
            self.0.store(location.map_or(ptr::null(), ptr::from_ref).cast_mut(), Ordering::Relaxed);
        }

        pub(super) fn get(&self) -> Option<&'static Location<'static>> {
            // SAFETY: only `set` writes the pointer, from a `'static` reference. The initial value is null.
            unsafe { self.0.load(Ordering::Relaxed).as_ref() }
        }
    }
}

use call_site::CallSite;

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::mpsc::channel;

    use super::{Calling, EntryGate, Inside, NoRoom, SLOTS};
    use crate::lease::Leases;

    const RESERVE: usize = 64 << 10;

    #[track_caller]
    fn calling(function: u64) -> Calling {
        Calling { function, from: Some(Location::caller()) }
    }

    fn name(function: u64) -> Arc<str> {
        format!("f{function}").into()
    }

    #[track_caller]
    fn enter(gate: &EntryGate, function: u64) -> Option<Inside<'_>> {
        gate.enter(calling(function), || name(function)).expect("the stack has room")
    }

    #[test]
    fn a_call_is_reported_with_function_thread_and_location_until_it_returns() {
        let gate = EntryGate::new(Leases::new("m"), RESERVE);
        let (give, take) = channel();
        std::thread::scope(|scope| {
            let inside = std::thread::Builder::new().name("worker-3".into());
            let (done, wait) = channel::<()>();
            let gate = &gate;
            let thread = inside.spawn_scoped(scope, move || {
                let _inside = enter(gate, 7).expect("it is open");
                give.send(()).expect("it listens");
                wait.recv().expect("the test sends it");
            });
            take.recv().expect("it is inside");
            let found = gate.inside(name);
            assert_eq!((found.len(), found[0].owner.as_str()), (1, "f7"));
            assert!(found[0].thread.starts_with("\"worker-3\" ("), "{found:?}");
            assert!(found[0].place.as_deref().is_some_and(|place| place.contains("entry_gate.rs:")), "{found:?}");
            done.send(()).expect("it waits");
            thread.expect("a thread").join().expect("it ends");
        });
        assert!(gate.inside(name).is_empty());
    }

    #[test]
    fn a_closed_gate_refuses_entries_and_counts_calls_inside() {
        let (gate, other) = (EntryGate::new(Leases::new("m"), RESERVE), EntryGate::new(Leases::new("n"), RESERVE));
        let inside = enter(&gate, 1).expect("it is open");
        gate.shut();
        assert!(enter(&gate, 2).is_none());
        assert!(enter(&other, 3).is_some());
        assert!(!gate.inside(name).is_empty());
        drop(inside);
        assert!(gate.inside(name).is_empty());
    }

    #[test]
    fn calls_deeper_than_the_table_are_leases() {
        let leases = Leases::new("m");
        let gate = EntryGate::new(Arc::clone(&leases), RESERVE);
        let mut open: Vec<_> = (0..SLOTS as u64 + 2).map(|at| enter(&gate, at)).collect();
        assert_eq!((gate.inside(name).len(), leases.count()), (SLOTS, 2));
        while open.pop().is_some() {}
        assert!(gate.inside(name).is_empty() && leases.count() == 0);
    }

    #[test]
    fn endless_calls_are_refused_at_the_reserve_of_the_stack() {
        fn nest(gate: &EntryGate, depth: usize) -> usize {
            let frame = std::hint::black_box([0_u8; 1024]);
            let found = match gate.enter(calling(1), || name(1)) {
                Ok(_inside) => nest(gate, depth + 1),
                Err(NoRoom { depth: refused }) => {
                    assert_eq!(refused, depth);
                    depth
                }
            };
            found + usize::from(std::hint::black_box(frame)[0])
        }
        let depth_with = |reserve: usize| {
            let gate = EntryGate::new(Leases::new("m"), reserve);
            let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(move || (nest(&gate, 0), gate));
            let (depth, gate) = thread.expect("a thread").join().expect("it ends");
            assert!(gate.inside(name).is_empty() && gate.leases.count() == 0);
            depth
        };
        let (more, less) = (depth_with(RESERVE), depth_with(RESERVE * 4));
        assert!(SLOTS < less && less < more, "{less} {more}");
    }

    #[test]
    fn a_closed_gate_without_visible_calls_is_empty() {
        const ROUNDS: u64 = 200;
        for _ in 0..ROUNDS {
            let gate = EntryGate::new(Leases::new("m"), RESERVE);
            let (gone, entered) = (AtomicBool::new(false), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while let Some(_inside) = enter(&gate, 1) {
                            assert!(!gone.load(Ordering::SeqCst), "inside, and the image is gone");
                            entered.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                while entered.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                gate.shut();
                while !gate.inside(name).is_empty() {
                    std::thread::yield_now();
                }
                gone.store(true, Ordering::SeqCst);
            });
        }
    }
}
