//! Unmaps pages that a plugin must not release: pages of its own image, and pages of attached segments.
#![expect(unsafe_code, reason = "maps and unmaps memory, like plugins that wrap a C library")]

use std::ptr::{null, null_mut};

const PAGE: usize = 4096;

/// Four pages in this module's image.
#[repr(C, align(4096))]
struct Room([u8; 4 * PAGE]);

static mut ROOM: Room = Room([0; 4 * PAGE]);

/// Writes the start address of the two middle pages to the file that `ALARMS_RELEASE` names. Returns this address.
fn middle() -> usize {
    let start = (&raw mut ROOM).expose_provenance();
    // SAFETY: no other code accesses the pages.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(start).write_bytes(1, 4 * PAGE) };
    let name = std::env::var_os("ALARMS_RELEASE").expect("the test sets the path");
    std::fs::write(name, (start + PAGE).to_string()).expect("the file is writable");
    start + PAGE
}

pub(crate) fn hole() {
    // SAFETY: no code uses the two pages.
    assert_eq!(unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(middle()), 2 * PAGE) }, 0);
}

pub(crate) fn hole_by_number() {
    // SAFETY: no code uses the two pages.
    assert_eq!(unsafe { libc::syscall(libc::SYS_munmap, middle(), 2 * PAGE) }, 0);
}

/// Moves pages of this module to another address. The move leaves a hole in the image.
pub(crate) fn hole_by_moving() {
    let from = std::ptr::with_exposed_provenance_mut(middle());
    // SAFETY: no code uses the two pages.
    unsafe { libc::mremap(from, 2 * PAGE, 4 * PAGE, libc::MREMAP_MAYMOVE) };
}

/// Maps other pages over pages of this module.
pub(crate) fn mapped_over() {
    let (at, protection) = (std::ptr::with_exposed_provenance_mut(middle()), libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: no code uses the two pages.
    assert_eq!(unsafe { libc::mmap(at, 2 * PAGE, protection, flags, -1, 0) }, at);
}

/// Attaches two segments, and detaches the first of them.
pub(crate) fn segment() {
    for is_kept in [false, true] {
        // SAFETY: creates a new segment.
        let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, 2 * PAGE, libc::IPC_CREAT | 0o600) };
        assert!(segment >= 0);
        // SAFETY: `shmget` has created the segment.
        let memory = unsafe { libc::shmat(segment, null(), 0) };
        assert_ne!(memory.addr(), usize::MAX);
        // SAFETY: `shmat` has attached the segment with this length.
        unsafe { memory.cast::<u8>().write_bytes(1, 2 * PAGE) };
        // SAFETY: the segment remains until the last detach.
        assert_eq!(unsafe { libc::shmctl(segment, libc::IPC_RMID, null_mut()) }, 0);
        if !is_kept {
            // SAFETY: no code uses the segment.
            assert_eq!(unsafe { libc::shmdt(memory) }, 0);
        }
    }
}

/// Maps the free address ranges in a list. The list has the form `7f0000000000-7f0000001000 7f0000004000-7f0000005000`.
pub(crate) fn take(ranges: &str) {
    let hex = |text: &str| usize::from_str_radix(text, 16).expect("a number");
    for (start, end) in ranges.split_whitespace().filter_map(|range| range.split_once('-')) {
        let (start, len) = (std::ptr::without_provenance_mut(hex(start)), hex(end) - hex(start));
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: `MAP_FIXED_NOREPLACE` replaces no mapping.
        unsafe { libc::mmap(start, len, protection, flags | libc::MAP_FIXED_NOREPLACE, -1, 0) };
    }
}
