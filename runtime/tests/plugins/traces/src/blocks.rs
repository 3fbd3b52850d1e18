//! Blocks of the C library's heap that a plugin leaves, as C code in it does: some that nobody but the plugin knows, and some
//! that a library which stays was given, or the environment.
#![expect(unsafe_code, reason = "takes blocks of the C heap and gives them away")]

use std::ffi::{c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::callbacks::function;

/// Sizes that nothing else here asks for: of what only this module leads to, and of what the library is given.
const OWN: [usize; 3] = [1001, 2002, 3003];
const GIVEN: [usize; 2] = [4004, 5005];

/// What the given blocks are filled with.
const FILLED: u8 = 0x5a;

/// All that leads to the first of our own; each begins with the address of the next.
static FIRST: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

fn block(size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    let block = unsafe { libc::malloc(size) };
    assert!(!block.is_null());
    // SAFETY: the block has this size, and is ours.
    unsafe { block.cast::<u8>().write_bytes(FILLED, size) };
    block
}

fn own() {
    for size in OWN {
        let block = block(size);
        // SAFETY: it is longer than an address, and aligned as any block.
        unsafe { block.cast::<*mut c_void>().write(FIRST.load(Ordering::Relaxed)) };
        FIRST.store(block, Ordering::Relaxed);
    }
}

/// Blocks of both kinds, and a text of the environment.
pub(crate) fn leave() {
    own();
    // SAFETY: the function takes the address of some data.
    let keep = unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(function(c"staying_keep_data")) };
    for size in GIVEN {
        // SAFETY: the library looks behind it when it is asked to.
        unsafe { keep(block(size)) };
    }
    let text = c"TRACES_PUT=put by a plugin";
    let copy = block(text.count_bytes() + 1).cast::<c_char>();
    // SAFETY: the copy has room for the text and its end.
    unsafe { copy.copy_from_nonoverlapping(text.as_ptr(), text.count_bytes() + 1) };
    // SAFETY: a C string that stays where it is as long as this module does.
    assert_eq!(unsafe { libc::putenv(copy) }, 0);
}

/// What the library was given is as it was, though other blocks were taken since: how many blocks that are.
pub(crate) fn look() -> String {
    // SAFETY: the function takes a byte and returns how many of what it has begin with it.
    let count =
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn(u8) -> usize>(function(c"staying_count_filled")) };
    // SAFETY: what it looks at was given to it for ever.
    format!("{} blocks as they were", unsafe { count(FILLED) })
}

/// Blocks that only this module knows. Built with `grows`, it also calls what may move them.
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
    // SAFETY: the stream is open, and there is no line yet that could be too short.
    assert!(unsafe { libc::getline(&raw mut line, &raw mut room, file) } > 0);
    // SAFETY: the line is a block that the function has made.
    unsafe { libc::free(line.cast()) };
    // SAFETY: it is open, and nobody else has it.
    unsafe { libc::fclose(file) };
}
