//! Records the blocks that C code in images has allocated from the C heap. Recording does not change the address of a block, because the
//! image may pass the block to any C function.
//!
//! All images share a table, because an image may free a block that another image has allocated. The record of a block is removed before
//! the block is freed, because the address may be reused immediately afterwards.
#![expect(unsafe_code, reason = "frees what an image has left")]

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::Mutex;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::c::kernel::{errno, set_errno};
use super::c::library;
use super::lock;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "a block of the C heap",
    counts: |image, counts| (counts.c_heap_bytes, counts.c_heap_blocks) = held(image.owner()),
    free: |gone, report| {
        let is_kept = |address| !gone.policy().free_c_heap || gone.kept().contains(&address);
        // SAFETY: the record shows that the image allocated the block and no code has freed it; the record has been removed.
        let left = take(gone.image().owner(), is_kept, |block| unsafe { library::free(gone, block) });
        (report.c_heap_bytes, report.c_heap_blocks) = left.freed;
        (report.c_heap_kept_bytes, report.c_heap_kept_blocks) = left.kept;
    },
    ..Repair::NONE
};

/// Number of locks, large enough that concurrent threads rarely use the same lock.
const SHARDS: usize = 64;

static RECORDS: [Mutex<Shard>; SHARDS] = [const { Mutex::new(FxHashMap::with_hasher(FxBuildHasher)) }; SHARDS];

type Shard = FxHashMap<usize, Block>;

#[derive(Clone, Copy)]
struct Block {
    owner: usize,
    size: usize,
}

/// Records a block of an image, and returns the block. Ignores null.
#[inline]
pub(super) fn allocated(owner: usize, size: usize, block: *mut c_void) -> *mut c_void {
    add_record(block, Block { owner, size });
    block
}

/// Removes the record of a block that the C library is about to move or free. Returns `true` if the block was a block of this image. A block
/// of another image stays without a record, because the end of this image must not free it.
pub(super) fn forget(owner: usize, block: *mut c_void) -> bool {
    remove_record(block).is_some_and(|known| known.owner == owner)
}

/// Calls `realloc`, which executes the C function, and updates the record of the block.
pub(super) fn moved(owner: usize, old: *mut c_void, size: usize, realloc: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let known = remove_record(old);
    let block = realloc();
    match known {
        // A size of zero frees the block and returns null. For a nonzero size, null means that the block is unchanged.
        Some(known) if block.is_null() && size != 0 => add_record(old, known),
        Some(known) => add_record(block, Block { owner: known.owner, size }),
        // A block without a record belongs to other code, even after `realloc` has moved it.
        None if old.is_null() => add_record(block, Block { owner, size }),
        None => {}
    }
    block
}

/// Removes the record of the block and calls `free`, which executes the C function. Like the C function, keeps `errno`, which a wait for
/// the lock may change.
#[inline]
pub(super) fn freed(block: *mut c_void, free: impl FnOnce()) {
    if !block.is_null() {
        let error = errno();
        remove_record(block);
        free();
        set_errno(error);
    }
}

/// Returns the total of the requested bytes, and the number of the blocks of an image.
fn held(owner: usize) -> (u64, u64) {
    let mut sum = (0, 0);
    for shard in &RECORDS {
        for block in lock(shard).values().filter(|block| block.owner == owner) {
            sum = (sum.0 + block.size as u64, sum.1 + 1);
        }
    }
    sum
}

pub(super) fn all(owner: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    for shard in &RECORDS {
        let shard = lock(shard);
        let own = shard.iter().filter(|(_, block)| block.owner == owner);
        all.extend(own.map(|(address, block)| *address..address.saturating_add(block.size.max(1))));
    }
    all.sort_by_key(|block| block.start);
    all
}

/// Total size and number of an unmapped image's blocks, as pairs of requested bytes and blocks.
#[derive(Clone, Copy, Default)]
struct Left {
    freed: (u64, u64),
    kept: (u64, u64),
}

/// Removes the records of an image's blocks. Passes each block to `free`, unless `is_kept` returns `true` for the block.
fn take(owner: usize, is_kept: impl Fn(usize) -> bool, mut free: impl FnMut(*mut c_void)) -> Left {
    let mut left = Left::default();
    for shard in &RECORDS {
        let blocks: Vec<_> = lock(shard).extract_if(|_, block| block.owner == owner).collect();
        for (address, Block { size, .. }) in blocks {
            let is_kept = is_kept(address);
            let sum = if is_kept { &mut left.kept } else { &mut left.freed };
            *sum = (sum.0 + size as u64, sum.1 + 1);
            if !is_kept {
                free(ptr::with_exposed_provenance_mut(address));
            }
        }
    }
    left
}

fn add_record(address: *mut c_void, block: Block) {
    if !address.is_null() {
        lock(shard_of(address)).insert(address.expose_provenance(), block);
    }
}

fn remove_record(address: *mut c_void) -> Option<Block> {
    if address.is_null() {
        return None;
    }
    lock(shard_of(address)).remove(&address.addr())
}

fn shard_of(address: *mut c_void) -> &'static Mutex<Shard> {
    // Discards the lowest four bits, because blocks are at least 16 bytes apart.
    let mixed = (address.addr() >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 56;
    &RECORDS[mixed % SHARDS]
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::{errno, freed, set_errno};

    #[test]
    fn freeing_a_block_keeps_the_error_number() {
        set_errno(libc::ENOENT);
        freed(ptr::without_provenance_mut(16), || set_errno(libc::EAGAIN));
        assert_eq!(errno(), libc::ENOENT);
    }
}
