//! Pages that are not the plugin's to give: those of its own image, and segments that it has attached.
#![expect(unsafe_code, reason = "maps and unmaps memory, as plugins do that wrap a C library")]

use std::ptr::{null, null_mut};

const PAGE: usize = 4096;

/// Some pages of this module.
#[repr(C, align(4096))]
struct Room([u8; 4 * PAGE]);

static mut ROOM: Room = Room([0; 4 * PAGE]);

/// Where the two in the middle begin; that goes into the file that `ALARMS_RELEASE` names.
fn middle() -> usize {
    let start = (&raw mut ROOM).expose_provenance();
    // SAFETY: nobody else writes to it.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(start).write_bytes(1, 4 * PAGE) };
    let name = std::env::var_os("ALARMS_RELEASE").expect("somebody says where");
    std::fs::write(name, (start + PAGE).to_string()).expect("a file");
    start + PAGE
}

pub(crate) fn hole() {
    // SAFETY: two pages that nobody uses.
    assert_eq!(unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(middle()), 2 * PAGE) }, 0);
}

pub(crate) fn hole_by_number() {
    // SAFETY: two pages that nobody uses.
    assert_eq!(unsafe { libc::syscall(libc::SYS_munmap, middle(), 2 * PAGE) }, 0);
}

/// Pages of this module at another place; where they were, there is nothing.
pub(crate) fn hole_by_moving() {
    let from = std::ptr::with_exposed_provenance_mut(middle());
    // SAFETY: two pages that nobody uses.
    unsafe { libc::mremap(from, 2 * PAGE, 4 * PAGE, libc::MREMAP_MAYMOVE) };
}

/// Other pages in their place.
pub(crate) fn mapped_over() {
    let (at, protection) = (std::ptr::with_exposed_provenance_mut(middle()), libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: two pages that nobody uses.
    assert_eq!(unsafe { libc::mmap(at, 2 * PAGE, protection, flags, -1, 0) }, at);
}

/// Two segments; the first is detached again.
pub(crate) fn segment() {
    for is_kept in [false, true] {
        // SAFETY: a fresh segment.
        let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, 2 * PAGE, libc::IPC_CREAT | 0o600) };
        assert!(segment >= 0);
        // SAFETY: made just now.
        let memory = unsafe { libc::shmat(segment, null(), 0) };
        assert_ne!(memory.addr(), usize::MAX);
        // SAFETY: attached just now with this length.
        unsafe { memory.cast::<u8>().write_bytes(1, 2 * PAGE) };
        // SAFETY: it is there until nobody has it attached.
        assert_eq!(unsafe { libc::shmctl(segment, libc::IPC_RMID, null_mut()) }, 0);
        if !is_kept {
            // SAFETY: nobody uses it.
            assert_eq!(unsafe { libc::shmdt(memory) }, 0);
        }
    }
}

/// Takes these addresses, as far as they are free, and leaves them: `7f0000000000-7f0000001000 7f0000004000-7f0000005000`.
pub(crate) fn take(ranges: &str) {
    let hex = |text: &str| usize::from_str_radix(text, 16).expect("a number");
    for (start, end) in ranges.split_whitespace().filter_map(|range| range.split_once('-')) {
        let (start, len) = (std::ptr::without_provenance_mut(hex(start)), hex(end) - hex(start));
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the kernel replaces no mapping that is there.
        unsafe { libc::mmap(start, len, protection, flags | libc::MAP_FIXED_NOREPLACE, -1, 0) };
    }
}
