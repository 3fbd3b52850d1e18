//! A shard: slabs that one thread has to itself, so that its allocations take no lock. Blocks that other threads free
//! come back through a list, which the owner collects when it runs out.
//!
//! A thread is known by its thread pointer, which needs neither a thread-local nor a destructor (which would pin the
//! image on every thread that ever allocated). Whoever gets the same pointer later is a thread that came after, so
//! it takes over the shard. Threads that find no free shard share some, under a lock.
#![expect(unsafe_code, reason = "frees blocks")]

use core::cell::Cell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::classes::CLASSES;
use super::pages;
use super::slab::{Returned, Slab};
use crate::this_thread::this_thread;

/// Shards for one thread each, a power of two.
const OWNED: usize = 64;

/// How far a thread looks for a shard of its own.
const PROBES: usize = 8;

/// Shards for the rest.
const SHARED: usize = 4;

/// Slabs of one owner.
#[repr(align(128))]
pub(super) struct Shard {
    /// The thread pointer of the owner; zero for none, or for whoever has the lock of a shared one.
    owner: AtomicUsize,
    /// Bytes that were allocated less those that were freed through this shard, so that it may be negative.
    live: AtomicI64,
    returned: Returned,
    /// For each class the slabs that have room, the one in use first.
    slabs: [Cell<Option<&'static Slab>>; CLASSES],
}

// SAFETY: the cells are used by the owner alone: the thread whose pointer is in `owner`, or who has the lock.
unsafe impl Sync for Shard {}

struct SharedShard {
    shard: Shard,
    lock: Mutex<()>,
}

static SHARDS: [Shard; OWNED] = [const { Shard::new() }; OWNED];
static SHARED_SHARDS: [SharedShard; SHARED] =
    [const { SharedShard { shard: Shard::new(), lock: Mutex::new(()) } }; SHARED];

/// A shard, and the right to use it.
enum Access {
    /// It is this thread's own.
    Owned(&'static Shard),
    /// It is shared, and locked as long as the guard lives.
    Locked(&'static Shard, MutexGuard<'static, ()>),
}

/// Control blocks lie on page boundaries or near, so the low bits say little.
#[inline]
fn first_choice(thread: usize) -> usize {
    (thread as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (usize::BITS - OWNED.ilog2())
}

/// A block of a class.
#[inline]
pub(super) fn allocate(class: usize, size: usize) -> Option<NonNull<u8>> {
    let thread = this_thread();
    let shard = &SHARDS[first_choice(thread)];
    if shard.owner.load(Ordering::Relaxed) == thread
        && let Some(slab) = shard.slabs[class].get()
        && let Some(block) = slab.take()
    {
        shard.count(size as i64);
        return Some(block);
    }
    allocate_slowly(thread, class, size)
}

#[cold]
fn allocate_slowly(thread: usize, class: usize, size: usize) -> Option<NonNull<u8>> {
    match access(thread) {
        Access::Owned(shard) => {
            let block = shard.take(class)?;
            shard.count(size as i64);
            Some(block)
        }
        Access::Locked(shard, _guard) => {
            let block = shard.take(class)?;
            shard.live.fetch_add(size as i64, Ordering::Relaxed);
            Some(block)
        }
    }
}

/// Gives a block back.
///
/// # Safety
/// It is from [`allocate`] with this size, and nobody uses it any more.
#[inline]
pub(super) unsafe fn free(block: NonNull<u8>, size: usize) {
    let thread = this_thread();
    // SAFETY: our caller promises a block of a slab that it does not use any more. It is put into a shard of this thread, or left
    // for the thread that has the shard.
    unsafe {
        let slab = Slab::of(block);
        let shard = slab.shard;
        if shard.owner.load(Ordering::Relaxed) == thread {
            shard.count(-(size as i64));
            shard.put(slab, block);
        } else {
            count_elsewhere(-(size as i64));
            shard.returned.push(block);
        }
    }
}

/// Counts bytes of an allocation that is in no slab of this thread.
pub(super) fn count_elsewhere(bytes: i64) {
    let thread = this_thread();
    let shard = &SHARDS[first_choice(thread)];
    if shard.owner.load(Ordering::Relaxed) == thread {
        shard.count(bytes);
    } else {
        SHARED_SHARDS[first_choice(thread) % SHARED].shard.live.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Bytes that are allocated now; while other threads allocate, the answer is a little off.
pub(super) fn live_bytes() -> u64 {
    let all = SHARDS.iter().chain(SHARED_SHARDS.iter().map(|shared| &shared.shard));
    let live: i64 = all.map(|shard| shard.live.load(Ordering::Relaxed)).sum();
    live.try_into().unwrap_or(0)
}

/// The shard for this thread: its own, one that nobody has, or a shared one.
fn access(thread: usize) -> Access {
    let first = first_choice(thread);
    for probe in 0..PROBES {
        let shard = &SHARDS[(first + probe) % OWNED];
        let owner = match shard.owner.load(Ordering::Relaxed) {
            0 => shard
                .owner
                .compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed)
                .map_or_else(|x| x, |_| thread),
            owner => owner,
        };
        if owner == thread {
            return Access::Owned(shard);
        }
    }
    let SharedShard { shard, lock } = &SHARED_SHARDS[first % SHARED];
    // Nothing under this lock panics.
    Access::Locked(shard, lock.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Shard {
    const fn new() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            live: AtomicI64::new(0),
            returned: Returned::new(),
            slabs: [const { Cell::new(None) }; CLASSES],
        }
    }

    /// Only the owner writes, so no locked instruction is needed.
    #[inline]
    fn count(&self, bytes: i64) {
        self.live.store(self.live.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
    }

    /// A block of a class. The owner asks.
    fn take(&'static self, class: usize) -> Option<NonNull<u8>> {
        let mut has_collected = false;
        loop {
            while let Some(slab) = self.slabs[class].get() {
                if let Some(block) = slab.take() {
                    return Some(block);
                }
                self.unlist(slab);
            }
            if !has_collected {
                has_collected = true;
                self.collect();
                continue;
            }
            let memory = pages::take_slab()?;
            // SAFETY: the memory is a slab's, fresh from stock, and the heap's until the image is gone.
            self.list(unsafe { Slab::new(memory, self, class) });
        }
    }

    /// Takes back what other threads freed.
    fn collect(&'static self) {
        for block in self.returned.take() {
            // SAFETY: only blocks of slabs are pushed, by threads that do not use them any more; the owner collects.
            unsafe { self.put(Slab::of(block), block) };
        }
    }

    /// Puts a block into its slab; a slab that is empty then and not the only one goes back into stock.
    ///
    /// # Safety
    /// The caller owns this shard, of which the slab is, and nobody uses the block any more.
    #[inline]
    unsafe fn put(&'static self, slab: &'static Slab, block: NonNull<u8>) {
        // SAFETY: promised by our caller.
        let is_empty = unsafe { slab.put(block) };
        if !slab.is_listed.get() {
            self.list(slab);
        }
        if is_empty && (slab.next.get().is_some() || slab.previous.get().is_some()) {
            self.unlist(slab);
            // SAFETY: none of its blocks is in use, and it is in no list.
            unsafe { pages::give_slab(slab.memory()) };
        }
    }

    fn list(&self, slab: &'static Slab) {
        let first = self.slabs[slab.class].replace(Some(slab));
        slab.previous.set(None);
        slab.next.set(first);
        slab.is_listed.set(true);
        if let Some(first) = first {
            first.previous.set(Some(slab));
        }
    }

    fn unlist(&self, slab: &'static Slab) {
        let (previous, next) = (slab.previous.take(), slab.next.take());
        match previous {
            Some(previous) => previous.next.set(next),
            None => self.slabs[slab.class].set(next),
        }
        if let Some(next) = next {
            next.previous.set(previous);
        }
        slab.is_listed.set(false);
    }
}
