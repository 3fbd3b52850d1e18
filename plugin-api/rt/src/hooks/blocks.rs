//! Hooks of functions by which the C library makes blocks of its heap for its caller to free: the platform makes them, and the
//! host is told, so that it counts and frees them as those of `malloc`.

#![expect(unsafe_code, reason = "moves blocks from one heap to another")]

use core::ffi::{c_char, c_int, c_void};
use core::ptr::copy_nonoverlapping;
use core::sync::atomic::{AtomicBool, Ordering};

use super::{notes, platform};

makers! {
    strdup(text: *const c_char);
    strndup(text: *const c_char, most: usize);
    realpath(path: *const c_char, place: *mut c_char) if place.is_null();
    canonicalize_file_name(path: *const c_char);
    getcwd(place: *mut c_char, room: usize) if place.is_null();
    get_current_dir_name();
}

// The second is what C code calls that is compiled with checks.
printers! {
    vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void; text);
    __vasprintf_chk(text: *mut *mut c_char, flag: c_int, format: *const c_char, arguments: *mut c_void; text);
}

readers! {
    getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void; line room);
    getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, stream: *mut c_void; line room);
}

/// Set if `free` of the module is its own, which frees blocks of its own heap alone.
static HAS_OWN_HEAP: AtomicBool = AtomicBool::new(false);

/// Notes that `free` of the module is its own. Runs before other initializers.
pub extern "C" fn has_own_heap() {
    HAS_OWN_HEAP.store(true, Ordering::Relaxed);
}

/// Checks if blocks of the platform's are copied to a heap of the module's own.
pub(super) fn are_copied() -> bool {
    HAS_OWN_HEAP.load(Ordering::Relaxed)
}

/// Returns the block that the module gets for one that the platform has made for it: the block itself, which the host has on
/// record then, or a copy from the module's own heap. Null if memory runs out.
///
/// # Safety
/// The platform has made it just now for the module to free, or it is null.
pub(super) unsafe fn handed_over(block: *mut c_void) -> *mut c_void {
    if block.is_null() || !are_copied() {
        // SAFETY: our caller promises a new block of the module's, or null.
        unsafe { notes::block_made(block) };
        return block;
    }
    // SAFETY: our caller promises a block of the platform's heap, which no other code uses. `malloc` is the module's own.
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

/// Returns the block that the platform may move or free for one of the module's, which has `len` bytes: the block itself, or
/// one of the platform's with the same bytes. Null for null, and if memory runs out.
///
/// # Safety
/// The block is one of the module's heap with at least so many bytes, or null; the module uses the result in its place.
pub(super) unsafe fn lent(block: *mut c_void, len: usize) -> *mut c_void {
    if block.is_null() || !are_copied() {
        return block;
    }
    // SAFETY: our caller promises the block and its length, and that no code uses it any more. `free` is the module's own.
    unsafe {
        let moved = platform::malloc(len);
        if !moved.is_null() {
            copy_nonoverlapping(block.cast::<u8>(), moved.cast(), len);
        }
        libc::free(block);
        moved
    }
}
