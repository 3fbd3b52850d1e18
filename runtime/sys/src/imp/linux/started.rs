//! Records of the threads that images have started. A record exists until its thread has permanently left the image's code and was joined
//! or detached.

#[cfg(target_arch = "x86_64")]
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::c::callbacks::ThreadStart;
use super::c::kernel;
use super::lock;
use crate::ledger::Ledger;

/// All threads of images that are running or not joined yet. All images share one list, because any code that has the handle of a thread
/// may join the thread.
pub(super) static STARTED: Mutex<Vec<Arc<Started>>> = Mutex::new(Vec::new());

#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only an eviction reads a field"))]
pub(super) struct Started {
    pub(super) ledger: Arc<Ledger>,
    pub(super) start: Complement,
    pub(super) since: Instant,
    /// `true` if the image provides the memory of the stack.
    pub(super) own_stack: bool,
    /// System name of the thread that started this thread. The started thread has this name until the thread sets its own name.
    pub(super) inherited: Option<Vec<u8>>,
    /// Full names that the thread's module has reported. See [`super::names`].
    pub(super) names: Mutex<Vec<Box<str>>>,
    /// System id of the thread. Zero until the thread runs.
    pub(super) tid: AtomicI32,
    /// Position in the host's function at which the thread continues when the start routine returns. See [`super::evict`].
    pub(super) return_point: ReturnPoint,
    /// `true` while an eviction signal is pending.
    pub(super) is_signaled: AtomicBool,
    pub(super) is_evicted: AtomicBool,
    pub(super) life: Mutex<ThreadEnd>,
}

/// Complement of an address in an image. In contrast to the address itself, a copy of the complement in freed memory does not look like a
/// reference to a memory scan.
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

/// Position at which the thread continues after its start routine: stack pointer and code address.
#[repr(C)]
#[derive(Default)]
pub(super) struct ReturnPoint {
    pub(super) stack: AtomicUsize,
    pub(super) code: AtomicUsize,
}

pub(super) struct ThreadEnd {
    pub(super) handle: Option<usize>,
    pub(super) ended: bool,
    pub(super) hold: Hold,
}

/// Owner of the thread's stack. The owner frees the stack after the end of the thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hold {
    /// The thread that will join this thread later.
    Joinable,
    /// A thread that is joining this thread.
    Joining,
    /// The C library, when the thread ends.
    Detached,
}

#[derive(Default)]
pub(super) struct Threads {
    pub(super) started: AtomicU64,
    pub(super) ended: AtomicU64,
    pub(super) evicted: AtomicU64,
    /// Number of threads that the host could not join, and that may still use the image's pages after the end of the image.
    pub(super) not_joined: AtomicU64,
}

impl Started {
    /// Creates the record of a thread that this thread is about to start. `inherited` is the name of this thread.
    pub(super) fn new(
        ledger: Arc<Ledger>,
        start: ThreadStart,
        hold: Hold,
        own_stack: bool,
        inherited: Option<Vec<u8>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            ledger,
            start: Complement::of(start),
            since: Instant::now(),
            own_stack,
            inherited,
            names: Mutex::default(),
            tid: AtomicI32::new(0),
            return_point: ReturnPoint::default(),
            is_signaled: AtomicBool::new(false),
            is_evicted: AtomicBool::new(false),
            life: Mutex::new(ThreadEnd { handle: None, ended: false, hold }),
        })
    }

    /// Records that the thread has left the image's code permanently.
    pub(super) fn ends(&self) {
        let threads = &self.ledger.records.threads;
        threads.evicted.fetch_add(u64::from(self.is_evicted.load(Ordering::SeqCst)), Ordering::SeqCst);
        threads.ended.fetch_add(1, Ordering::SeqCst);
        lock(&self.life).ended = true;
        self.unregister_if_done();
    }

    /// Removes the record if the thread has ended and the C library frees the thread's stack.
    pub(super) fn unregister_if_done(&self) {
        let life = lock(&self.life);
        let done = life.ended && life.hold == Hold::Detached && !self.own_stack;
        drop(life);
        if done {
            unregister(self);
        }
    }

    /// Returns the segments of the image. Returns an empty list while the image is being mapped.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn code(&self) -> &[Range<usize>] {
        self.ledger.records.code()
    }

    pub(super) fn is_of(&self, ledger: &Ledger) -> bool {
        self.ledger.is(ledger)
    }

    /// Checks if the thread runs the image's code or uses its memory.
    fn holds(&self) -> bool {
        let life = lock(&self.life);
        match (life.ended, life.hold) {
            (false, _) => true,
            // The C library provides this stack, and frees the stack when the thread is joined.
            (true, Hold::Joinable | Hold::Joining) if !self.own_stack => false,
            (true, _) => kernel::thread_exists(self.tid.load(Ordering::SeqCst)),
        }
    }
}

pub(super) fn holding(ledger: &Ledger) -> Vec<Arc<Started>> {
    // Releases the lock before checking if the threads still exist, because these checks are slow.
    let of_image: Vec<_> = lock(&STARTED).iter().filter(|started| started.is_of(ledger)).cloned().collect();
    of_image.into_iter().filter(|started| started.holds()).collect()
}

pub(super) fn numbers() -> Vec<i32> {
    lock(&STARTED).iter().map(|started| started.tid.load(Ordering::SeqCst)).collect()
}

pub(super) fn of_number(tid: i32) -> Option<Arc<Started>> {
    let is_it = |started: &&Arc<Started>| started.tid.load(Ordering::SeqCst) == tid && !lock(&started.life).ended;
    lock(&STARTED).iter().find(is_it).cloned()
}

/// Returns the joinable thread with this handle.
pub(super) fn find(handle: usize) -> Option<Arc<Started>> {
    let is_it = |started: &&Arc<Started>| {
        let life = lock(&started.life);
        life.handle == Some(handle) && life.hold == Hold::Joinable
    };
    lock(&STARTED).iter().find(is_it).cloned()
}

pub(super) fn unregister(started: &Started) {
    lock(&STARTED).retain(|known| !ptr::eq(Arc::as_ptr(known), started));
}
