//! Memory and files that this module never frees or closes.
#![expect(unsafe_code, reason = "leaks memory of the C library")]

use std::fs::File;
use std::os::fd::IntoRawFd as _;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::errors;

const MEGABYTE: usize = 1 << 20;
const PAGE: usize = 4096;

static IN_THE_IMAGE: [AtomicU8; MEGABYTE] = [const { AtomicU8::new(0) }; MEGABYTE];
static ON_THE_HEAP: OnceLock<Vec<u8>> = OnceLock::new();

/// Allocates memory of each kind, and writes to it so that it becomes resident.
pub(crate) fn fill() {
    for byte in IN_THE_IMAGE.iter().step_by(PAGE) {
        if byte.swap(1, Ordering::Relaxed) != 0 {
            errors::add("a static of a new generation is not zero");
            break;
        }
    }
    ON_THE_HEAP.get_or_init(|| vec![1; MEGABYTE]);
    Box::leak(vec![1_u8; 4 * PAGE].into_boxed_slice());
    leak_c_memory();
    leak_pages();
}

fn leak_c_memory() {
    // SAFETY: `malloc` accepts any size.
    let block = unsafe { libc::malloc(PAGE) };
    if block.is_null() {
        return errors::add("malloc failed");
    }
    // SAFETY: `malloc` returned `PAGE` bytes that only this code uses.
    unsafe { std::ptr::write_bytes(block.cast::<u8>(), 1, PAGE) };
}

fn leak_pages() {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new pages at any address affect no other mapping.
    let pages = unsafe { libc::mmap(null_mut(), 16 * PAGE, protection, flags, -1, 0) };
    if pages == libc::MAP_FAILED {
        return errors::add("mmap failed");
    }
    // SAFETY: `mmap` returned this many writable bytes that only this code uses.
    unsafe { std::ptr::write_bytes(pages.cast::<u8>(), 1, 16 * PAGE) };
}

/// Leaves a file open.
pub(crate) fn leak_file() {
    match File::open("/dev/null") {
        Ok(file) => drop(file.into_raw_fd()),
        Err(error) => errors::add(format!("/dev/null: {error}")),
    }
}
