//! Memory that images have mapped, and the pages of their own heaps.
//!
//! A record is taken out before the kernel is asked to unmap: as soon as it has, the same address may be another's.
#![expect(unsafe_code, reason = "maps and unmaps pages")]

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::Mutex;

use super::lock;
use super::ranges::Ranges;

/// Modules lay their heaps out in regions of this size, so aligned: an address tells its region.
const REGION: usize = 64 * 1024;

const PAGE: usize = 4096;

/// The pages of one image.
pub(super) struct Pages {
    maps: Mutex<Ranges>,
    heap: Mutex<Ranges>,
}

impl Pages {
    pub(super) const fn new() -> Self {
        Self { maps: Mutex::new(Ranges::new()), heap: Mutex::new(Ranges::new()) }
    }

    /// `mmap`.
    ///
    /// # Safety
    ///
    /// What the C function demands.
    pub(super) unsafe fn map(
        &self,
        address: *mut c_void,
        len: usize,
        protection: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void {
        // SAFETY: our caller promises what the function demands.
        let start = unsafe { libc::mmap(address, len, protection, flags, fd, offset) };
        if start != libc::MAP_FAILED {
            lock(&self.maps).insert(pages(start, len));
        }
        start
    }

    /// `munmap`.
    ///
    /// # Safety
    ///
    /// What the C function demands.
    pub(super) unsafe fn unmap(&self, address: *mut c_void, len: usize) -> c_int {
        let removed = lock(&self.maps).remove(pages(address, len));
        // SAFETY: our caller promises what the function demands.
        let result = unsafe { libc::munmap(address, len) };
        if result != 0 {
            self.put_back(removed);
        }
        result
    }

    /// `mremap`.
    ///
    /// # Safety
    ///
    /// What the C function demands.
    pub(super) unsafe fn remap(
        &self,
        address: *mut c_void,
        old_len: usize,
        new_len: usize,
        flags: c_int,
        new_address: *mut c_void,
    ) -> *mut c_void {
        let removed = lock(&self.maps).remove(pages(address, old_len));
        // SAFETY: our caller promises what the function demands.
        let start = unsafe { libc::mremap(address, old_len, new_len, flags, new_address) };
        let (moved, is_known) = (start != libc::MAP_FAILED, !removed.is_empty());
        if !moved || flags & libc::MREMAP_DONTUNMAP != 0 {
            self.put_back(removed);
        }
        if moved && is_known {
            lock(&self.maps).insert(pages(start, new_len));
        }
        start
    }

    fn put_back(&self, parts: Vec<Range<usize>>) {
        let mut maps = lock(&self.maps);
        parts.into_iter().for_each(|part| maps.insert(part));
    }

    /// Fresh zeroed pages of a multiple of [`REGION`], so aligned; null when there are none.
    pub(super) fn grow(&self, len: usize) -> *mut c_void {
        let start = aligned(len);
        if !start.is_null() {
            lock(&self.heap).insert(pages(start, len));
        }
        start
    }

    /// # Safety
    ///
    /// These are pages of [`Pages::grow`] that nobody uses.
    pub(super) unsafe fn shrink(&self, address: *mut c_void, len: usize) {
        let parts = lock(&self.heap).remove(pages(address, len));
        for part in parts {
            // SAFETY: our caller promises that nobody uses these pages, which are on record.
            unsafe { free(part) };
        }
    }

    /// Everything there is now, mappings and heap.
    pub(super) fn all(&self) -> Vec<Range<usize>> {
        let mut all = lock(&self.maps).all();
        all.extend(lock(&self.heap).all());
        all
    }

    pub(super) fn map_bytes(&self) -> u64 {
        lock(&self.maps).bytes()
    }

    pub(super) fn heap_bytes(&self) -> u64 {
        lock(&self.heap).bytes()
    }

    /// Unmaps everything; returns the bytes of mappings and of the heap.
    ///
    /// # Safety
    ///
    /// Nobody uses it any more.
    pub(super) unsafe fn free_all(&self) -> (u64, u64) {
        let bytes = (self.map_bytes(), self.heap_bytes());
        let (maps, heap) = (lock(&self.maps).take(), lock(&self.heap).take());
        for part in maps.into_iter().chain(heap) {
            // SAFETY: our caller promises it.
            unsafe { free(part) };
        }
        bytes
    }
}

/// The whole pages that a mapping of `len` bytes takes.
fn pages(start: *mut c_void, len: usize) -> Range<usize> {
    start.addr()..start.addr().saturating_add(len.checked_next_multiple_of(PAGE).unwrap_or(len))
}

/// # Safety
///
/// The range is mapped and nobody uses it.
unsafe fn free(range: Range<usize>) {
    // SAFETY: our caller promises it.
    unsafe { libc::munmap(ptr::with_exposed_provenance_mut(range.start), range.len()) };
}

fn aligned(len: usize) -> *mut c_void {
    let Some(wide) = len.checked_add(REGION).filter(|_| len > 0 && len.is_multiple_of(REGION)) else {
        return ptr::null_mut();
    };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a private mapping at a place of the kernel's choice touches nobody's memory.
    let start = unsafe { libc::mmap(ptr::null_mut(), wide, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    // The kernel aligns to pages only: what lies before and behind the aligned part goes back.
    let before = start.addr().next_multiple_of(REGION) - start.addr();
    let kept = start.wrapping_byte_add(before);
    for (cut, cut_len) in [(start, before), (kept.wrapping_byte_add(len), REGION - before)] {
        if cut_len > 0 {
            // SAFETY: these pages were mapped just now and nobody has their address.
            unsafe { libc::munmap(cut, cut_len) };
        }
    }
    kept
}
