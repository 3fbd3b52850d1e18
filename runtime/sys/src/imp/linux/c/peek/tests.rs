//! Tests reads of mapped memory and of unmapped memory.
#![expect(unsafe_code, reason = "maps and unmaps pages of the tests")]

use std::ptr;

use super::{read, string, through_the_file, word};

#[test]
fn mapped_memory_is_read_and_unmapped_memory_causes_no_fault() {
    let value = 0x1234_5678_9abc_usize;
    assert_eq!(word(ptr::from_ref(&value).addr()), Some(value));
    assert_eq!(string(c"a text".as_ptr().addr(), 100), Some(b"a text".to_vec()));
    assert_eq!(string(c"a text".as_ptr().addr(), 6), None);
    for nothing in [0, 8, usize::MAX - 7] {
        assert_eq!((word(nothing), string(nothing, 100)), (None, None), "{nothing:#x}");
    }
}

#[test]
fn a_read_stops_at_a_page_that_is_not_there() {
    // SAFETY: the kernel maps two new pages at a free address, and no other code has the address of the second page.
    let pages = unsafe {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let pages = libc::mmap(ptr::null_mut(), 8192, libc::PROT_READ, kind, -1, 0);
        assert_ne!(pages, libc::MAP_FAILED);
        assert_eq!(libc::munmap(pages.wrapping_byte_add(4096), 4096), 0);
        pages
    };
    let mut bytes = [1; 64];
    for read in [read, through_the_file] {
        assert_eq!(read(pages.addr() + 4096 - 16, &mut bytes), 16);
        assert_eq!(read(pages.addr() + 4096, &mut bytes), 0);
    }
    assert_eq!(string(pages.addr() + 4095, 100), Some(Vec::new()));
    // SAFETY: this test has mapped the page, and no other code has its address.
    unsafe { libc::munmap(pages, 4096) };
}
