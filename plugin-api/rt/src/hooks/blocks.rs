//! Hooks of C functions that allocate heap blocks which the caller frees. The platform allocates, and the host is notified, so
//! that it counts and frees the blocks like those of `malloc`.

#![expect(unsafe_code, reason = "moves blocks from one heap to another")]

use core::ffi::{c_char, c_int, c_void};
use core::ptr::copy_nonoverlapping;
use core::sync::atomic::{AtomicBool, Ordering};

use super::{notes, platform};

makers! {
    strdup(text: *const c_char);
    strndup(text: *const c_char, most: usize);
    realpath(path: *const c_char, buffer: *mut c_char) if buffer.is_null();
    canonicalize_file_name(path: *const c_char);
    getcwd(buffer: *mut c_char, room: usize) if buffer.is_null();
    get_current_dir_name();
}

// C code compiled with fortification calls the second function.
printers! {
    vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void; text);
    __vasprintf_chk(text: *mut *mut c_char, flag: c_int, format: *const c_char, arguments: *mut c_void; text);
}

readers! {
    getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void; line room);
    getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, stream: *mut c_void; line room);
}

/// Set if the module has its own `free`, which only frees blocks of its own heap.
static HAS_OWN_HEAP: AtomicBool = AtomicBool::new(false);

/// Records that the module has its own `free`. Runs before other initializers.
pub extern "C" fn has_own_heap() {
    HAS_OWN_HEAP.store(true, Ordering::Relaxed);
}

/// Returns true if blocks of the platform are copied to the module's own heap.
pub(super) fn are_copied() -> bool {
    HAS_OWN_HEAP.load(Ordering::Relaxed)
}

/// Returns the block to pass to the module for a block that the platform has allocated: the block itself, which the host then
/// records, or a copy in the module's own heap. Null if memory runs out.
///
/// # Safety
/// The platform has just allocated the block for the module to free, or it is null.
pub(super) unsafe fn handed_over(block: *mut c_void) -> *mut c_void {
    if block.is_null() || !are_copied() {
        // SAFETY: the caller promises a new block of the module, or null.
        unsafe { notes::block_made(block) };
        return block;
    }
    // SAFETY: the caller promises a block of the platform's heap that no other code uses. `malloc` is the module's own.
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

/// Returns the block to pass to the platform, which may move or free it, for a block of the module of `len` bytes: the block
/// itself, or a copy in the platform's heap. Null for null, and if memory runs out.
///
/// # Safety
/// The block is a block of the module's heap with at least `len` bytes, or null; the module uses the result instead of it.
pub(super) unsafe fn borrowed(block: *mut c_void, len: usize) -> *mut c_void {
    if block.is_null() || !are_copied() {
        return block;
    }
    // SAFETY: the caller promises the block and its length, and that no code uses it any more. `free` is the module's own.
    unsafe {
        let moved = platform::malloc(len);
        if !moved.is_null() {
            copy_nonoverlapping(block.cast::<u8>(), moved.cast(), len);
        }
        libc::free(block);
        moved
    }
}
