//! Memory that images have mapped, and the pages of the images' own heaps.
//!
//! A record is removed before the kernel unmaps the recorded pages, because the addresses may be reused immediately afterwards. An image
//! may also unmap or move pages of another image, and therefore removes the record of that image as well.
//!
//! When the loader closes an image, it unmaps all pages of the image, including holes. If an image unmaps some of its own pages, the hook
//! replaces these pages by inaccessible pages. Otherwise a foreign mapping could be placed in the hole and be unmapped with the image.
#![expect(unsafe_code, reason = "maps and unmaps pages")]

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use super::c::kernel::fail;
use super::c::pages::fresh;
use super::c::peek::PAGE;
use super::lock;
use super::ranges::Ranges;
use super::untracked;
use crate::ledger::Ledger;
use crate::ledger::repair::{Gone, Repair};

pub(super) const REPAIR: Repair = Repair {
    name: "a mapping",
    is_mapped: |image, mapping| image.records.is_at(mapping.ranges()),
    counts: |image, counts| {
        (counts.maps_bytes, counts.heap_bytes) = (image.records.pages.map_bytes(), image.records.pages.heap_bytes());
    },
    free: |gone, report| {
        let label = gone.image().label();
        gone.image().records.pages.log_holes(label);
        match Pages::free_all(gone) {
            Some(bytes) => (report.maps_bytes, report.heap_bytes) = bytes,
            None => log!(WARN, image = label, "a thread does not end: its image's pages stay"),
        }
    },
    ..Repair::NONE
};

/// Size and alignment of the regions of module heaps. Because of the alignment, the region of an address can be computed.
const REGION: usize = 64 * 1024;

#[derive(Default)]
pub(super) struct Pages {
    maps: Mutex<Ranges>,
    heap: Mutex<Ranges>,
    /// Attached shared memory segments (`shmat`).
    segments: Mutex<Vec<Range<usize>>>,
    /// Range from the first to the last page of the image, once known.
    image: OnceLock<Range<usize>>,
    /// Names of the functions whose calls would have made a hole in the image. Each call was prevented.
    holes: Mutex<BTreeSet<&'static str>>,
}

/// Removed records of mappings.
struct Removed {
    own: Vec<Range<usize>>,
    /// Records of other images.
    others: Vec<(Arc<Ledger>, Vec<Range<usize>>)>,
}

impl Pages {
    pub(super) fn is_mapped(&self, segments: &[Range<usize>]) {
        let start = segments.iter().map(|segment| segment.start / PAGE * PAGE).min();
        let end = segments.iter().map(|segment| segment.end.next_multiple_of(PAGE)).max();
        if let Some((start, end)) = start.zip(end) {
            self.image.get_or_init(|| start..end);
        }
    }

    fn of_image(&self, pages: &Range<usize>) -> Option<Range<usize>> {
        let image = self.image.get()?;
        let part = pages.start.max(image.start)..pages.end.min(image.end);
        (!part.is_empty()).then_some(part)
    }

    /// Records the function for a later log message. Logging here could cause a deadlock: the calling thread may hold any lock, and a log
    /// listener may run arbitrary code.
    fn record_hole(&self, function: &'static str) {
        lock(&self.holes).insert(function);
    }

    /// Logs the attempts to change the image's own pages.
    fn log_holes(&self, label: &str) {
        let holes = std::mem::take(&mut *lock(&self.holes));
        for function in holes {
            log!(
                target: "alcedo_sys::memory",
                WARN,
                image = label,
                function,
                "a module has called this for pages of its own image, which stayed reserved"
            );
        }
    }

    /// Calls `map` and records the new mapping. `map` executes `mmap`.
    pub(super) fn map(&self, len: usize, map: impl FnOnce() -> *mut c_void) -> *mut c_void {
        let start = map();
        if start != libc::MAP_FAILED {
            let (pages, mut maps) = (pages(start, len), lock(&self.maps));
            maps.insert(pages.clone());
            // Removes the part inside the image from the records, because the loader unmaps that part.
            if let Some(part) = self.of_image(&pages) {
                maps.remove(part);
            }
        }
        start
    }

    /// Executes `munmap`. Pages of the image itself become inaccessible instead.
    ///
    /// # Safety
    ///
    /// The requirements of the C function apply.
    pub(super) unsafe fn unmap(&self, address: *mut c_void, len: usize) -> c_int {
        let all = pages(address, len);
        // Skips unaligned addresses, which the call of `munmap` below rejects.
        if let Some(part) = self.of_image(&all).filter(|_| address.addr().is_multiple_of(PAGE)) {
            self.record_hole("munmap");
            // Unmaps the part after the image first. A length that exceeds the address space is then rejected before any page is unmapped.
            for outside in [part.end..all.end, all.start..part.start] {
                let start = ptr::with_exposed_provenance_mut(outside.start);
                // SAFETY: our caller promises the requirements of the function for the whole range; this range is a part of it, outside of
                // the image.
                if !outside.is_empty() && unsafe { self.unmap(start, outside.len()) } != 0 {
                    return -1;
                }
            }
            // SAFETY: our caller no longer uses these pages of the image.
            return unsafe { reserve(part) };
        }
        let removed = self.remove(&all);
        // SAFETY: our caller promises what the function requires.
        let result = unsafe { libc::munmap(address, len) };
        if result == 0 {
            lock(&self.segments).retain(|segment| segment.start < all.start || all.end < segment.end);
        } else {
            self.reinsert(removed);
        }
        result
    }

    /// Calls `remap`, and updates the records of the moved pages. `remap` executes `mremap`. `to` is the requested new address, if any. If
    /// `keeps_old` is `true`, the old pages remain mapped.
    pub(super) fn remap(
        &self,
        (address, old_len): (*mut c_void, usize),
        new_len: usize,
        to: Option<*mut c_void>,
        keeps_old: bool,
        remap: impl FnOnce() -> *mut c_void,
    ) -> *mut c_void {
        // The call must neither make a hole in the image nor move pages into the image. Pages moved into the image would be unmapped twice.
        let both = [Some(pages(address, old_len)), to.map(|to| pages(to, new_len))];
        if both.iter().flatten().any(|pages| self.of_image(pages).is_some()) {
            self.record_hole("mremap");
            return fail(libc::EINVAL, libc::MAP_FAILED);
        }
        let removed = self.remove(&pages(address, old_len));
        let start = remap();
        let moved = start != libc::MAP_FAILED;
        let is_known = moved && !removed.own.is_empty();
        if !moved || keeps_old {
            self.reinsert(removed);
        } else {
            for (owner, _) in removed.others {
                lock(&owner.records.pages.maps).insert(pages(start, new_len));
            }
        }
        if is_known {
            lock(&self.maps).insert(pages(start, new_len));
        }
        start
    }

    /// Removes pages that are about to be unmapped from the records of all images. Otherwise the end of an image with such a record would
    /// unmap later mappings at these addresses.
    fn remove(&self, gone: &Range<usize>) -> Removed {
        let own = lock(&self.maps).remove(gone.clone());
        if own.iter().map(ExactSizeIterator::len).sum::<usize>() == gone.len() {
            return Removed { own, others: Vec::new() };
        }
        let others = untracked::ledgers().into_iter().filter_map(|other| {
            let pages = &other.records.pages;
            let parts = if ptr::eq(pages, self) { Vec::new() } else { lock(&pages.maps).remove(gone.clone()) };
            (!parts.is_empty()).then_some((other, parts))
        });
        Removed { own, others: others.collect() }
    }

    fn reinsert(&self, removed: Removed) {
        let insert = |pages: &Self, parts: Vec<Range<usize>>| {
            let mut maps = lock(&pages.maps);
            parts.into_iter().for_each(|part| maps.insert(part));
        };
        insert(self, removed.own);
        removed.others.into_iter().for_each(|(owner, parts)| insert(&owner.records.pages, parts));
    }

    /// Calls `attach` and records the segment. `attach` executes `shmat`.
    pub(super) fn attach(&self, segment: c_int, attach: impl FnOnce() -> *mut c_void) -> *mut c_void {
        let start = attach();
        if start != libc::MAP_FAILED
            && let Some(len) = len_of(segment)
        {
            lock(&self.segments).push(pages(start, len));
        }
        start
    }

    /// Removes the record of a segment and calls `detach`. `detach` executes `shmdt`, and rejects addresses that are not segments.
    pub(super) fn detach(&self, address: *const c_void, detach: impl FnOnce() -> c_int) -> c_int {
        lock(&self.segments).retain(|segment| segment.start != address.addr());
        detach()
    }

    /// Maps `len` zeroed bytes. `len` must be a multiple of [`REGION`]. The pages are aligned to [`REGION`]. Returns null on failure.
    pub(super) fn grow(&self, len: usize) -> *mut c_void {
        let start = aligned(len);
        if !start.is_null() {
            lock(&self.heap).insert(pages(start, len));
        }
        start
    }

    /// # Safety
    ///
    /// The range consists of unused pages of [`Pages::grow`].
    pub(super) unsafe fn shrink(&self, address: *mut c_void, len: usize) {
        let parts = lock(&self.heap).remove(pages(address, len));
        for part in parts {
            // SAFETY: our caller promises that these recorded pages are unused.
            unsafe { free(part) };
        }
    }

    pub(super) fn all(&self) -> Vec<Range<usize>> {
        let mut all = lock(&self.maps).all();
        all.extend(lock(&self.heap).all());
        all.extend(lock(&self.segments).iter().cloned());
        all
    }

    fn map_bytes(&self) -> u64 {
        let segments: usize = lock(&self.segments).iter().map(ExactSizeIterator::len).sum();
        lock(&self.maps).bytes() + segments as u64
    }

    fn heap_bytes(&self) -> u64 {
        lock(&self.heap).bytes()
    }

    /// Unmaps and detaches all pages of an image. Returns the bytes of mappings and segments, and the bytes of the heap. If a thread of the
    /// image could not be joined, keeps all pages and returns `None`, because the thread may still use the pages.
    fn free_all(gone: &Gone<'_>) -> Option<(u64, u64)> {
        let records = &gone.image().records;
        if records.threads.not_joined.load(Ordering::SeqCst) != 0 {
            return None;
        }
        let pages = &records.pages;
        let bytes = (pages.map_bytes(), pages.heap_bytes());
        let (maps, heap) = (lock(&pages.maps).take(), lock(&pages.heap).take());
        for part in maps.into_iter().chain(heap) {
            // SAFETY: the image with this record is unmapped, as the creator of `Gone` has promised, and no thread of it is left that
            // might use these pages.
            unsafe { free(part) };
        }
        for segment in std::mem::take(&mut *lock(&pages.segments)) {
            // SAFETY: the image that had attached the segment is unmapped, and its threads have ended; a segment that was unmapped
            // otherwise is rejected.
            unsafe { libc::shmdt(ptr::with_exposed_provenance(segment.start)) };
        }
        Some(bytes)
    }
}

fn len_of(segment: c_int) -> Option<usize> {
    let mut facts = MaybeUninit::<libc::shmid_ds>::uninit();
    // SAFETY: on success the kernel has written the whole record.
    unsafe {
        let is_ok = libc::shmctl(segment, libc::IPC_STAT, facts.as_mut_ptr()) == 0;
        is_ok.then(|| facts.assume_init().shm_segsz)
    }
}

fn pages(start: *mut c_void, len: usize) -> Range<usize> {
    start.addr()..start.addr().saturating_add(len.checked_next_multiple_of(PAGE).unwrap_or(len))
}

/// Replaces a range with inaccessible pages that use no memory.
///
/// # Safety
///
/// The range is mapped and unused.
unsafe fn reserve(range: Range<usize>) -> c_int {
    let start = ptr::with_exposed_provenance_mut(range.start);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: our caller promises that the replaced pages are unused.
    let there = unsafe { libc::mmap(start, range.len(), libc::PROT_NONE, flags, -1, 0) };
    if there == libc::MAP_FAILED { -1 } else { 0 }
}

/// # Safety
///
/// The range is mapped and unused.
unsafe fn free(range: Range<usize>) {
    // SAFETY: our caller promises that these pages are unused.
    unsafe { libc::munmap(ptr::with_exposed_provenance_mut(range.start), range.len()) };
}

fn aligned(len: usize) -> *mut c_void {
    let Some(wide) = len.checked_add(REGION).filter(|_| len > 0 && len.is_multiple_of(REGION)) else {
        return ptr::null_mut();
    };
    let start = fresh(wide, libc::PROT_READ | libc::PROT_WRITE);
    if start.is_null() {
        return ptr::null_mut();
    }
    // The kernel aligns mappings to pages only. Therefore more memory is mapped, and the memory before and after the aligned part is
    // unmapped.
    let before = start.addr().next_multiple_of(REGION) - start.addr();
    let kept = start.wrapping_byte_add(before);
    for (cut, cut_len) in [(start, before), (kept.wrapping_byte_add(len), REGION - before)] {
        if cut_len > 0 {
            // SAFETY: these pages were mapped just now and their address is unknown to other code.
            unsafe { libc::munmap(cut, cut_len) };
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::{PAGE, pages, untracked};
    use crate::ledger::Ledger;

    /// Uses addresses that are not mapped, because the records do not access the memory.
    #[test]
    fn a_mapping_at_the_old_address_of_moved_pages_keeps_its_record() {
        let [mover, owner] = ["mover", "owner"].map(Ledger::new);
        untracked::add(&owner);
        let [old, new] = [PAGE, 3 * PAGE].map(ptr::without_provenance_mut);
        let map = || owner.records.pages.map(PAGE, || old);
        let remap = || {
            map();
            new
        };
        map();
        assert_eq!(mover.records.pages.remap((old, PAGE), PAGE, None, false, remap), new);
        assert_eq!(owner.records.pages.all(), [pages(old, PAGE), pages(new, PAGE)]);
        assert_eq!(mover.records.pages.all(), []);
        let remap = || libc::MAP_FAILED;
        assert_eq!(mover.records.pages.remap((new, PAGE), PAGE, None, false, remap), libc::MAP_FAILED);
        assert_eq!(owner.records.pages.all(), [pages(old, PAGE), pages(new, PAGE)]);
    }
}
