//! Heap blocks that a C function such as `strdup` allocates and its caller must free. The platform's function allocates the block, and the
//! hook reports the block to the host. The host then counts and frees the block like a block of `malloc`.

#![expect(unsafe_code, reason = "moves blocks from one heap to another")]

use core::ffi::c_void;
use core::ptr::copy_nonoverlapping;
use core::sync::atomic::{AtomicBool, Ordering};

use super::{notes, platform};

/// True if the module defines `free` itself. The module's `free` accepts only blocks from the module's own heap.
static HAS_OWN_HEAP: AtomicBool = AtomicBool::new(false);

/// Records that the module defines `free` itself. Runs before other initializers.
pub extern "C" fn has_own_heap() {
    HAS_OWN_HEAP.store(true, Ordering::Relaxed);
}

/// Returns true if blocks that C functions of the platform allocate are copied to the module's own heap.
pub(super) fn are_copied() -> bool {
    HAS_OWN_HEAP.load(Ordering::Relaxed)
}

/// Converts a block that the platform has allocated into a block that the module can free. If the module has its own heap, returns a copy
/// in this heap. Otherwise returns the block itself, and reports the block to the host. Returns null if memory is exhausted.
///
/// # Safety
/// The platform has just allocated the block for the module to free, or the block is null.
pub(super) unsafe fn handed_over(block: *mut c_void) -> *mut c_void {
    if block.is_null() || !are_copied() {
        // SAFETY: the caller promises a new block of the module, or null.
        unsafe { notes::block_made(block) };
        return block;
    }
    // SAFETY: the caller promises a block of the platform's heap that no other code uses. `malloc` is the module's own function.
    unsafe {
        let len = platform::malloc_usable_size(block);
        let copy = libc::malloc(len);
        if !copy.is_null() {
            copy_nonoverlapping(block.cast::<u8>(), copy.cast(), len);
        }
        platform::free(block);
        copy
    }
}

/// Converts a block of the module into a block that the platform may move or free. If the module has its own heap, returns a copy in the
/// platform's heap. Otherwise returns the block itself. Returns null if the block is null or memory is exhausted.
///
/// # Safety
/// The block is a block of the module's heap with at least `len` bytes, or null. The module uses the result instead of the
/// block.
pub(super) unsafe fn borrowed(block: *mut c_void, len: usize) -> *mut c_void {
    if block.is_null() || !are_copied() {
        return block;
    }
    // SAFETY: the caller promises the block and its length, and that no code uses the block any more. `free` is the module's own function.
    unsafe {
        let moved = platform::malloc(len);
        if !moved.is_null() {
            copy_nonoverlapping(block.cast::<u8>(), moved.cast(), len);
        }
        libc::free(block);
        moved
    }
}
