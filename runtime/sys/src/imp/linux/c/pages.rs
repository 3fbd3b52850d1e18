//! Reserves inaccessible pages: to keep an address range free of other mappings, or as guard pages around a block of memory.
#![expect(unsafe_code, reason = "maps and unmaps pages")]

use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;
use std::ptr;

/// Maps zeroed pages with these permissions at a free address. Returns null on failure.
pub(in crate::imp::linux) fn fresh(len: usize, rights: c_int) -> *mut c_void {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a private mapping at an address of the kernel's choice affects no memory in use.
    let actual = unsafe { libc::mmap(ptr::null_mut(), len, rights, flags, -1, 0) };
    if actual == libc::MAP_FAILED { ptr::null_mut() } else { actual }
}

/// Pages that keep other mappings away from their addresses until this value is dropped.
#[derive(Debug)]
pub(in crate::imp::linux) struct Reserved(Range<usize>);

impl Reserved {
    /// Reserves whole inaccessible pages. Returns `None` if any of these pages is mapped.
    pub(in crate::imp::linux) fn at(range: Range<usize>) -> Option<Self> {
        let requested = ptr::without_provenance_mut::<c_void>(range.start);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: the kernel maps this address only if it is free; a kernel that does not support the flag may choose another
        // address, which is then unmapped.
        let is_reserved = unsafe {
            let actual = libc::mmap(requested, range.len(), libc::PROT_NONE, flags, -1, 0);
            if actual != libc::MAP_FAILED && actual != requested {
                libc::munmap(actual, range.len());
            }
            actual == requested
        };
        // Does not use `then_some`, which would always create the value: dropping an unused value would unmap memory of other code.
        is_reserved.then(|| Self(range))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the creator mapped the pages for this value. `at` returns no address in them, and the borrows of `GuardedPages` have
        // ended.
        unsafe { libc::munmap(ptr::without_provenance_mut(self.0.start), self.0.len()) };
    }
}

/// Whole readable and writable pages between inaccessible pages.
#[derive(Debug)]
pub(in crate::imp::linux) struct GuardedPages {
    body: *mut c_void,
    len: usize,
    /// All pages, including the inaccessible pages.
    _all: Reserved,
}

// SAFETY: the pages belong to this value only, independent of threads.
unsafe impl Send for GuardedPages {}
// SAFETY: a shared reference provides addresses only.
unsafe impl Sync for GuardedPages {}

impl GuardedPages {
    /// Maps pages for `size` bytes, with at least `wall` inaccessible bytes on each side.
    pub(in crate::imp::linux) fn new(size: usize, wall: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let (wall, len) = (wall.next_multiple_of(page), size.max(1).next_multiple_of(page));
        let all = len.checked_add(2 * wall).ok_or(io::ErrorKind::OutOfMemory)?;
        let actual = fresh(all, libc::PROT_NONE);
        if actual.is_null() {
            return Err(io::Error::last_os_error());
        }
        let (body, rights) = (actual.wrapping_byte_add(wall), libc::PROT_READ | libc::PROT_WRITE);
        let walled = Self { body, len, _all: Reserved(actual.addr()..actual.addr() + all) };
        // SAFETY: the pages were mapped just now, for this value alone.
        if unsafe { libc::mprotect(body, len, rights) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // Exposes the address, because C code will receive it.
        body.expose_provenance();
        Ok(walled)
    }

    pub(in crate::imp::linux) fn whole(&self) -> Range<usize> {
        let start = self.body.addr();
        start..start + self.len
    }

    pub(in crate::imp::linux) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the pages were mapped for this value, readable, writable and zeroed.
        unsafe { std::slice::from_raw_parts_mut(self.body.cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::Reserved;

    #[test]
    fn occupied_addresses_are_not_reserved_and_stay_mapped() {
        // By default, Linux does not place mappings at this address.
        let range = 0x3000_0000_0000..0x3000_0000_2000_usize;
        let reserved = Reserved::at(range.clone()).expect("it is free");
        for _ in 0..2 {
            assert!(Reserved::at(range.clone()).is_none(), "it is taken");
        }
        drop(reserved);
        assert!(Reserved::at(range).is_some(), "it is free again");
    }
}
