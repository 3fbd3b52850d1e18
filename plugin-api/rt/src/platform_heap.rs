//! The allocator of a module where it has no heap of its own: under a sanitizer, which has to see every allocation
//! itself, and on platforms without hooks, where an image is never unmapped.
#![expect(unsafe_code, reason = "an allocator")]

use core::alloc::{GlobalAlloc, Layout};
use std::alloc::System;

/// The allocator of a module: here the platform's. Any thread.
#[derive(Clone, Copy, Default, Debug)]
pub struct ModuleHeap;

/// Bytes that the module has allocated and not freed: they are not counted here.
#[must_use]
pub fn live_bytes() -> u64 {
    0
}

// SAFETY: all of it is the platform's allocator.
unsafe impl GlobalAlloc for ModuleHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: our caller keeps to the same contract.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller keeps to the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: our caller keeps to the same contract.
        unsafe { System.realloc(block, layout, new_size) }
    }
}
