//! The threads that images have started, each with what is known of it until it has left its image for good and was joined.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::c::callbacks::ThreadStart;
use super::c::kernel;
use super::lock;
use crate::ledger::Ledger;

/// Every thread of any image that runs, or that has not been joined. One list for all images, because any code that has a
/// thread's handle may join it.
pub(super) static STARTED: Mutex<Vec<Arc<Started>>> = Mutex::new(Vec::new());

/// One thread that an image has started.
pub(super) struct Started {
    pub(super) ledger: Arc<Ledger>,
    pub(super) start: Complement,
    pub(super) since: Instant,
    /// The stack is memory of the image's choice.
    pub(super) own_stack: bool,
    /// The name of the thread that started it, as the system keeps it: it is that of this thread until this has one of its own.
    pub(super) inherited: Option<Vec<u8>>,
    /// Full names, as its module has reported them; see [`super::names`].
    pub(super) names: Mutex<Vec<Box<str>>>,
    /// The number of the thread, or zero before it runs.
    pub(super) tid: AtomicI32,
    /// The place at which the host's function continues after the start routine; see [`super::evict`].
    pub(super) way_back: WayBack,
    /// A signal to lead it out is under way.
    pub(super) is_asked: AtomicBool,
    /// The thread was evicted.
    pub(super) is_evicted: AtomicBool,
    pub(super) life: Mutex<ThreadEnd>,
}

/// The complement of an address in an image: a word of it in freed memory is no reference to the image for a
/// search through memory.
#[derive(Clone, Copy)]
pub(super) struct Complement(usize);

impl Complement {
    pub(super) fn of(start: ThreadStart) -> Self {
        Self(!(start as usize))
    }

    pub(super) fn address(self) -> usize {
        !self.0
    }
}

/// A place to return to: the stack pointer and the address of the code.
#[repr(C)]
#[derive(Default)]
pub(super) struct WayBack {
    pub(super) stack: AtomicUsize,
    pub(super) code: AtomicUsize,
}

pub(super) struct ThreadEnd {
    /// The `pthread_t`, once it is known.
    pub(super) handle: Option<usize>,
    pub(super) ended: bool,
    pub(super) hold: Hold,
}

/// The owner of the thread's stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hold {
    /// The thread that joins it.
    Joinable,
    /// A thread that joins it now.
    Joining,
    /// The C library, when it ends.
    Detached,
}

/// Counts of the threads that an image has started.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) started: AtomicU64,
    pub(super) ended: AtomicU64,
    pub(super) evicted: AtomicU64,
    /// Threads that may still use its pages when it is gone.
    pub(super) not_joined: AtomicU64,
}

impl Started {
    /// The thread has left the image's code for good.
    pub(super) fn ends(&self) {
        let threads = &self.ledger.records.threads;
        threads.evicted.fetch_add(u64::from(self.is_evicted.load(Ordering::SeqCst)), Ordering::SeqCst);
        threads.ended.fetch_add(1, Ordering::SeqCst);
        let mut life = lock(&self.life);
        life.ended = true;
        let done = life.hold == Hold::Detached && !self.own_stack;
        drop(life);
        if done {
            strike(self);
        }
    }

    /// Returns the ranges of the image; none as long as it is being mapped.
    pub(super) fn code(&self) -> &[Range<usize>] {
        self.ledger.records.code()
    }

    pub(super) fn is_of(&self, ledger: &Ledger) -> bool {
        self.ledger.is(ledger)
    }

    /// Checks if it runs the image's code, or at least uses the image's memory.
    fn holds(&self) -> bool {
        let life = lock(&self.life);
        match (life.ended, life.hold) {
            (false, _) => true,
            (true, Hold::Detached) => kernel::thread_exists(self.tid.load(Ordering::SeqCst)),
            (true, Hold::Joinable | Hold::Joining) => false,
        }
    }
}

/// The threads that keep the image.
pub(super) fn holding(ledger: &Ledger) -> Vec<Arc<Started>> {
    // Asking whether a thread still exists takes a while, so not under the lock.
    let of_image: Vec<_> = lock(&STARTED).iter().filter(|started| started.is_of(ledger)).cloned().collect();
    of_image.into_iter().filter(|started| started.holds()).collect()
}

/// The numbers of all of them that may run.
pub(super) fn numbers() -> Vec<i32> {
    lock(&STARTED).iter().map(|started| started.tid.load(Ordering::SeqCst)).collect()
}

/// The one of that number, as long as it runs.
pub(super) fn of_number(tid: i32) -> Option<Arc<Started>> {
    let is_it = |started: &&Arc<Started>| started.tid.load(Ordering::SeqCst) == tid && !lock(&started.life).ended;
    lock(&STARTED).iter().find(is_it).cloned()
}

/// The one that may be joined by this handle.
pub(super) fn find(handle: usize) -> Option<Arc<Started>> {
    let is_it = |started: &&Arc<Started>| {
        let life = lock(&started.life);
        life.handle == Some(handle) && life.hold == Hold::Joinable
    };
    lock(&STARTED).iter().find(is_it).cloned()
}

/// Removes it from the list.
pub(super) fn strike(started: &Started) {
    lock(&STARTED).retain(|known| !ptr::eq(Arc::as_ptr(known), started));
}
