//! Shards: slabs that one thread owns, so that allocations of this thread take no lock. A block that a different thread frees is put into a
//! list. The owner of the shard collects the blocks of this list when the shard has no free blocks.
//!
//! A thread is identified by its thread pointer, without a thread-local that needs a destructor. Such a destructor would pin the image for
//! every thread that ever allocated. If a later thread has an equal pointer, it becomes the owner of the shard. A thread that finds no free
//! shard uses a shared shard under a lock.
#![expect(unsafe_code, reason = "frees blocks")]

use core::cell::Cell;
use core::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::classes::CLASSES;
use super::memory::{Block, Free, Returned, Slab};
use super::pages;
use crate::outside::this_thread;

/// Number of shards that can each have one thread as the owner; a power of two.
const OWNED: usize = 64;

/// Maximum number of shards that a thread tries before it uses a shared shard.
const PROBES: usize = 8;

/// Number of shards that several threads share.
const SHARED: usize = 4;

/// Slabs of one owner.
#[repr(align(128))]
pub(super) struct Shard {
    /// Thread pointer of the owner; zero without an owner. Also zero for a shared shard, which belongs to the thread that holds its lock.
    owner: AtomicUsize,
    /// Number of bytes allocated through this shard, minus the number of bytes freed through this shard; may be negative.
    live: AtomicI64,
    returned: Returned,
    /// For each class, the list of slabs that have free blocks; the active slab is first.
    slabs: [Cell<Option<&'static Slab>>; CLASSES],
}

// SAFETY: only the owner uses the cells, that is, the thread whose pointer is in `owner`, or the thread that holds the lock.
unsafe impl Sync for Shard {}

struct SharedShard {
    shard: Shard,
    lock: Mutex<()>,
}

static SHARDS: [Shard; OWNED] = [const { Shard::new() }; OWNED];
static SHARED_SHARDS: [SharedShard; SHARED] =
    [const { SharedShard { shard: Shard::new(), lock: Mutex::new(()) } }; SHARED];

/// Shard that the calling thread may use.
enum Access {
    Owned(&'static Shard),
    /// Shared shard, locked until the guard is dropped.
    Locked(&'static Shard, MutexGuard<'static, ()>),
}

/// Returns the index of the first shard to try: a hash of the thread pointer. Thread control blocks are near page boundaries, so the low
/// bits alone would cause collisions.
#[inline]
fn first_choice(thread: usize) -> usize {
    (thread as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (usize::BITS - OWNED.ilog2())
}

#[inline]
pub(super) fn allocate(class: usize, size: usize) -> Option<Free<Block>> {
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
fn allocate_slowly(thread: usize, class: usize, size: usize) -> Option<Free<Block>> {
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

#[inline]
pub(super) fn free(block: Free<Block>, size: usize) {
    let thread = this_thread();
    // SAFETY: the slab exists until the block is put back, as the type of the block guarantees.
    // If this thread owns the shard, the block is put into its slab; otherwise, it is put into the owner's list.
    unsafe {
        let slab = Slab::of(&block);
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

/// Adds `bytes` to the byte count, for an allocation outside of this thread's slabs.
pub(super) fn count_elsewhere(bytes: i64) {
    let thread = this_thread();
    let shard = &SHARDS[first_choice(thread)];
    if shard.owner.load(Ordering::Relaxed) == thread {
        shard.count(bytes);
    } else {
        SHARED_SHARDS[first_choice(thread) % SHARED].shard.live.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Returns the number of allocated bytes. The number is approximate while other threads allocate.
pub(super) fn live_bytes() -> u64 {
    let all = SHARDS.iter().chain(SHARED_SHARDS.iter().map(|shared| &shared.shard));
    let live: i64 = all.map(|shard| shard.live.load(Ordering::Relaxed)).sum();
    live.try_into().unwrap_or(0)
}

/// Returns a shard for this thread: the thread's own shard, a shard without an owner, or a shared shard.
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
    // No code panics while it holds this lock.
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

    /// Adds `bytes` to the byte count. A plain store suffices, because only the owner writes the count.
    #[inline]
    fn count(&self, bytes: i64) {
        self.live.store(self.live.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
    }

    /// Removes and returns a free block of a class. Only the owner may call this function.
    fn take(&'static self, class: usize) -> Option<Free<Block>> {
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
            self.list(Slab::new(memory, self, class));
        }
    }

    /// Puts the blocks that other threads have freed back into their slabs.
    fn collect(&'static self) {
        let returned = self.returned.take();
        while let Some(block) = returned.pop() {
            // SAFETY: only the owner calls `collect`, and the list contains only blocks of this shard's slabs.
            unsafe { self.put(Slab::of(&block), block) };
        }
    }

    /// Puts a block into its slab. If all blocks of the slab are then free, and the list contains other slabs, returns the slab to the
    /// stock.
    ///
    /// # Safety
    /// The caller owns this shard. The slab belongs to this shard, and the block belongs to the slab.
    #[inline]
    unsafe fn put(&'static self, slab: &'static Slab, block: Free<Block>) {
        // SAFETY: the caller owns the shard. The retired slab has no block in use, is in no list, and is not used afterwards.
        unsafe {
            let is_empty = slab.put(block);
            if !slab.is_listed.get() {
                self.list(slab);
            }
            if is_empty && (slab.next.get().is_some() || slab.previous.get().is_some()) {
                self.unlist(slab);
                pages::give_slab(slab.retire());
            }
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
