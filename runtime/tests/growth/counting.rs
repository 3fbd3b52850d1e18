//! Allocator that counts live allocations.
#![expect(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::Sub;
use std::sync::atomic::{AtomicI64, Ordering};

static BLOCKS: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

/// Number and size of the live allocations of all threads at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Living {
    pub(crate) blocks: i64,
    pub(crate) bytes: i64,
}

impl Living {
    pub(crate) fn now() -> Self {
        Self { blocks: BLOCKS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
    }
}

impl Sub for Living {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { blocks: self.blocks - before.blocks, bytes: self.bytes - before.bytes }
    }
}

/// System allocator that counts live allocations.
pub(crate) struct Counting;

fn add(blocks: i64, bytes: i64) {
    BLOCKS.fetch_add(blocks, Ordering::Relaxed);
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

fn size(layout: Layout) -> i64 {
    i64::try_from(layout.size()).unwrap_or(i64::MAX)
}

// SAFETY: every call is forwarded unchanged, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise for the layout is the one that `System` requires.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            add(1, size(layout));
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise for the layout is the one that `System` requires.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            add(1, size(layout));
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add(-1, -size(layout));
        // SAFETY: the caller promises that this allocator returned the block with this layout, so the block is from `System`.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that this allocator returned the block with this layout, and that the new size is valid.
        let moved = unsafe { System.realloc(block, layout, new_size) };
        if !moved.is_null() {
            add(0, i64::try_from(new_size).unwrap_or(i64::MAX) - size(layout));
        }
        moved
    }
}
