//! Blocks of the C heap that a plugin never frees, as C code in a plugin may do. Only the plugin has the addresses of some blocks. The
//! other blocks are passed to a permanent library or to the environment.
#![expect(unsafe_code, reason = "allocates on the C heap and passes the blocks on")]

use std::ffi::{c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::callbacks::function;

/// Sizes of blocks that only this module references, and sizes of blocks passed to the library. Each size is unique.
const OWN: [usize; 3] = [1001, 2002, 3003];
const SIZES: [usize; 2] = [4004, 5005];

/// Byte that fills the blocks passed to the library.
const FILLED: u8 = 0x5a;

/// Head of the list of blocks that only this module references. Each block starts with the address of the next block.
static FIRST: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

fn block(size: usize) -> *mut c_void {
    // SAFETY: `malloc` accepts any size.
    let block = unsafe { libc::malloc(size) };
    assert!(!block.is_null());
    // SAFETY: the block has this size and no other owner.
    unsafe { block.cast::<u8>().write_bytes(FILLED, size) };
    block
}

/// Writes an address of this module behind the requested size of the block. A block may contain such data of a freed block there.
fn write_stale_rest(block: *mut c_void, size: usize) {
    const WORD: usize = size_of::<usize>();
    // SAFETY: the block is in use.
    let room = unsafe { libc::malloc_usable_size(block) };
    for at in (size.next_multiple_of(WORD)..room + 1 - WORD).step_by(WORD) {
        // SAFETY: the word is a part of the block, which is aligned and has no other owner.
        unsafe { block.byte_add(at).cast::<usize>().write((leave as fn()) as usize) };
    }
}

fn own() {
    for size in OWN {
        let block = block(size);
        // SAFETY: the block is longer than an address and aligned.
        unsafe { block.cast::<*mut c_void>().write(FIRST.load(Ordering::Relaxed)) };
        FIRST.store(block, Ordering::Relaxed);
    }
}

/// Leaves blocks that only this module references, blocks that the library references, and an environment string.
pub(crate) fn leave() {
    own();
    // SAFETY: the function takes a data address.
    let keep = unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(function(c"staying_keep_data")) };
    for size in SIZES {
        let block = block(size);
        write_stale_rest(block, size);
        // SAFETY: the library reads the data only when a test calls it.
        unsafe { keep(block) };
    }
    let text = c"TRACES_PUT=put by a plugin";
    let copy = block(text.count_bytes() + 1).cast::<c_char>();
    // SAFETY: the copy has room for the string and its terminator.
    unsafe { copy.copy_from_nonoverlapping(text.as_ptr(), text.count_bytes() + 1) };
    // SAFETY: a C string that remains valid as long as this module is loaded.
    assert_eq!(unsafe { libc::putenv(copy) }, 0);
}

/// Returns the number of blocks in the library whose first byte is still `FILLED`, as text.
pub(crate) fn check() -> String {
    // SAFETY: the function takes a byte and returns the number of blocks that start with the byte.
    let count =
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn(u8) -> usize>(function(c"staying_count_filled")) };
    // SAFETY: the library owns the checked blocks permanently.
    format!("{} blocks as they were", unsafe { count(FILLED) })
}

/// Leaks blocks whose addresses only this module has. With the feature `grows`, also calls a function that may reallocate a block.
pub(crate) fn leave_where_somebody_else_could_free_them() {
    own();
    #[cfg(feature = "grows")]
    read_a_line();
}

#[cfg(feature = "grows")]
fn read_a_line() {
    let (mut line, mut room) = (std::ptr::null_mut(), 0);
    // SAFETY: two C strings.
    let file = unsafe { libc::fopen(c"/proc/self/stat".as_ptr(), c"r".as_ptr()) };
    assert!(!file.is_null());
    // SAFETY: the stream is open, and the line is null.
    assert!(unsafe { libc::getline(&raw mut line, &raw mut room, file) } > 0);
    // SAFETY: the function has allocated the line.
    unsafe { libc::free(line.cast()) };
    // SAFETY: the stream is open and has no other owner.
    unsafe { libc::fclose(file) };
}
