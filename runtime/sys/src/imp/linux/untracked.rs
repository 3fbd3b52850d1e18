//! Untracked mappings: memory that a plugin maps by direct system calls, which no hook records. For example, rustix makes such calls for
//! wasmtime. If the plugin does not unmap such a mapping, the mapping remains after the end of the plugin, and each reload adds a further
//! one.
//!
//! The owner of an untracked mapping cannot be determined, because the host may map memory at any time. An untracked mapping is therefore
//! only reported, and stays mapped. A mapping is reported if memory of the image refers to the mapping at the end of the image. The mapping
//! must also be newer than the image and must have no record. Blocks, arenas and thread stacks of the C library are not reported. If the
//! host uses a different allocator, memory of the host cannot be recognized, and no mapping is reported.
//!
//! The mapping list is read when an image is mapped and when the image ends. A very long list is not read. The image's memory is searched
//! only if the list contains mappings that may be untracked.

use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, Weak};

use super::c::peek::{self, PAGE, WORD};
use super::proc::{Mapped, Maps};
use super::ranges::Ranges;
use super::{c_heap, lock};
use crate::ledger::Ledger;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "a mapping that bypasses the hooks",
    is_mapped: |image, _| add(image),
    before_close: |image| {
        let own = [image.records.pages.all(), c_heap::all(image.owner())].concat();
        image.records.untracked.record(image.records.code(), &own);
    },
    free: |gone, report| (report.maps_unknown, report.maps_unknown_bytes) = gone.image().records.untracked.remaining(),
    ..Repair::NONE
};

const MOST_SEARCHED: usize = 16 << 20;

const PIECE: usize = 64 * 1024;

/// Size and alignment of the C library's thread arenas.
const ARENA: usize = 64 << 20;

static LEDGERS: Mutex<Vec<Weak<Ledger>>> = Mutex::new(Vec::new());

pub(super) struct Untracked {
    /// Mappings that existed before the image was mapped. `None` if these mappings are unknown.
    before: Option<Vec<Range<usize>>>,
    /// Untracked mappings to which the image's memory referred just before the image was closed.
    referenced: Mutex<Vec<Range<usize>>>,
}

impl Untracked {
    pub(super) fn new(maps: Option<&Maps>) -> Self {
        // Does not count memory of the C library as existing mappings. A block may be freed, and a mapping of an image may then reuse its
        // addresses.
        let maps = maps.filter(|maps| maps.is_short());
        let before = maps.map(|maps| requested(&maps.all().collect::<Vec<_>>(), &[], peek::word));
        Self { before, referenced: Mutex::default() }
    }

    /// Records the untracked mappings to which the image's segments and its own memory refer. Called while this memory is still readable.
    fn record(&self, segments: &[Range<usize>], own: &[Range<usize>]) {
        let Some((before, maps)) = self.before.as_ref().zip(Maps::read_short()) else { return };
        let list: Vec<_> = maps.all().collect();
        if !is_of_the_c_library(ptr::from_ref(self).addr(), &list, peek::word) {
            return;
        }
        let mut known = before.clone();
        known.extend(ledgers().iter().flat_map(|ledger| ledger.records.own_pages()));
        let fresh = fresh(&list, &known, peek::word, peek::read);
        if fresh.is_empty() {
            return;
        }
        let is_own = |range: &Range<usize>| segments.iter().any(|own| own.start <= range.start && range.end <= own.end);
        let variables = list.iter().filter(|mapped| mapped.is_writable() && is_own(&mapped.range));
        let seen = variables.map(|mapped| mapped.range.clone()).chain(own.iter().cloned());
        *lock(&self.referenced) = referenced(seen, fresh);
    }

    /// Returns the number and bytes of the recorded mappings that remain after the image was unmapped.
    fn remaining(&self) -> (u64, u64) {
        let referenced = std::mem::take(&mut *lock(&self.referenced));
        if referenced.is_empty() {
            return (0, 0);
        }
        let mut there = Ranges::default();
        Maps::read_short().iter().flat_map(Maps::all).for_each(|mapped| there.insert(mapped.range));
        let parts: Vec<_> = referenced.into_iter().flat_map(|range| there.remove(range)).collect();
        (parts.len() as u64, parts.iter().map(|part| part.len() as u64).sum())
    }
}

/// Adds the ledger of an image to [`ledgers`].
pub(super) fn add(image: &Arc<Ledger>) {
    let mut ledgers = lock(&LEDGERS);
    ledgers.retain(|ledger| ledger.strong_count() > 0);
    ledgers.push(Arc::downgrade(image));
}

/// Returns the ledgers of all mapped images. Each result may become the last reference to its ledger, so the caller must hold no lock when
/// it drops the results.
pub(super) fn ledgers() -> Vec<Arc<Ledger>> {
    lock(&LEDGERS).iter().filter_map(Weak::upgrade).collect()
}

/// Returns the memory that neither the C library nor an image has mapped. For example, a library or the program may have its own allocator.
/// The result is empty if the system does not list mappings.
pub(super) fn of_libraries(own: &[Range<usize>]) -> Ranges {
    let ledgers = ledgers();
    let images = ledgers.iter().flat_map(|ledger| ledger.records.own_pages());
    let known: Vec<_> = images.chain(own.iter().cloned()).collect();
    let mut found = Ranges::default();
    let maps = Maps::read_short();
    let list: Vec<_> = maps.iter().flat_map(Maps::all).collect();
    fresh(&list, &known, peek::word, peek::read).into_iter().for_each(|range| found.insert(range));
    found
}

/// Checks if a mapping may be memory that a program requested from the kernel. Such a mapping has no file, or a file without a name.
fn is_memory(mapped: &Mapped<'_>) -> bool {
    let (name, rights) = (mapped.name, mapped.rights);
    let is_anything_allowed = rights.iter().take(3).any(|right| *right != b'-');
    is_anything_allowed && (name.is_empty() || name.starts_with(b"/memfd:") || name.starts_with(b"/dev/zero"))
}

/// Returns the parts of the listed mappings that are not in `known` and that the C library did not create.
fn fresh(
    list: &[Mapped<'_>],
    known: &[Range<usize>],
    word: impl Fn(usize) -> Option<usize>,
    read: impl Fn(usize, &mut [u8]) -> usize,
) -> Vec<Range<usize>> {
    let requested = requested(list, known, word);
    requested.into_iter().filter(|part| !is_stack(part, &read)).collect()
}

/// Returns the parts of the listed memory that are not in `known` and are neither blocks nor arenas of the C library.
fn requested(list: &[Mapped<'_>], known: &[Range<usize>], word: impl Fn(usize) -> Option<usize>) -> Vec<Range<usize>> {
    let mut all = Ranges::default();
    let memory = || list.iter().filter(|mapped| is_memory(mapped));
    memory().for_each(|mapped| all.insert(mapped.range.clone()));
    known.iter().for_each(|known| drop(all.remove(known.clone())));
    let mut found = Vec::new();
    for mapped in memory() {
        let mut parts = Ranges::default();
        all.remove(mapped.range.clone()).into_iter().for_each(|part| parts.insert(part));
        if parts.bytes() != 0 {
            of_malloc(&mapped.range, &word).into_iter().for_each(|known| drop(parts.remove(known)));
        }
        found.extend(parts.take());
    }
    found
}

/// Returns the parts of a mapping that are consecutive large blocks of the C library, or the start of an arena.
fn of_malloc(mapped: &Range<usize>, word: impl Fn(usize) -> Option<usize>) -> Vec<Range<usize>> {
    const IS_MAPPED: usize = 2;
    const FLAGS: usize = 7;
    let mut found: Vec<_> = arena(mapped, mapped.start, &word).into_iter().collect();
    let mut at = mapped.start;
    while let Some(size) = (at < mapped.end).then(|| word(at + WORD)).flatten() {
        let len = size & !FLAGS;
        let is_block = size & IS_MAPPED != 0 && len != 0 && len.is_multiple_of(PAGE) && len <= mapped.end - at;
        if !is_block {
            break;
        }
        found.push(at..at + len);
        at += len;
    }
    found
}

/// Returns the part of a mapping that is the arena around this address.
fn arena(mapped: &Range<usize>, address: usize, word: impl Fn(usize) -> Option<usize>) -> Option<Range<usize>> {
    let start = address.next_multiple_of(ARENA);
    let start = if start > address { start - ARENA } else { start };
    if !mapped.contains(&start) {
        return None;
    }
    // An arena begins with four words: owner record, previous arena, used size and maximum size.
    let [owner, size, room] = [0, 2, 3].map(|at| word(start + at * WORD));
    let (size, room) = (size?, room?);
    let is_arena = owner? != 0 && 0 < size && size <= room && room <= ARENA && room.is_multiple_of(PAGE);
    (is_arena && room <= mapped.end - start).then(|| start..start + room)
}

/// Checks if `address`, an allocation of the host, is at a location at which the C library's allocator usually places blocks.
fn is_of_the_c_library(address: usize, list: &[Mapped<'_>], word: impl Fn(usize) -> Option<usize>) -> bool {
    let Some(mapped) = list.iter().find(|mapped| mapped.range.contains(&address)) else { return false };
    let is_in = |range: Range<usize>| range.contains(&address);
    mapped.name == b"[heap]"
        || arena(&mapped.range, address, &word).is_some_and(is_in)
        || of_malloc(&mapped.range, &word).into_iter().any(is_in)
}

/// Checks if the range ends with a thread record, as a thread stack does. A thread record contains its own address twice.
fn is_stack(range: &Range<usize>, read: impl Fn(usize, &mut [u8]) -> usize) -> bool {
    const RECORD: usize = 8 * 1024;
    const ALIGNED: usize = 64;
    if cfg!(not(target_arch = "x86_64")) {
        // On other architectures, the record does not contain its own address. Every range then counts as a stack, because the guard pages
        // below it do not distinguish a stack from other mappings.
        return true;
    }
    let first = range.end.saturating_sub(RECORD).max(range.start).next_multiple_of(ALIGNED);
    let mut bytes = [0; RECORD];
    let room = RECORD.min(range.end.saturating_sub(first));
    let read = read(first, &mut bytes[..room]);
    let blocks = (first..).step_by(ALIGNED).zip(bytes[..read].chunks_exact(ALIGNED));
    blocks
        .into_iter()
        .any(|(at, record)| [0, 2 * WORD].iter().all(|field| record[*field..][..WORD] == at.to_ne_bytes()))
}

/// Returns the ranges of `fresh` to which a word in the memory `seen` refers.
fn referenced(seen: impl Iterator<Item = Range<usize>>, mut fresh: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut bytes = vec![0; PIECE];
    let mut remaining = MOST_SEARCHED;
    for range in seen {
        let mut at = range.start.next_multiple_of(WORD);
        while at < range.end && remaining > 0 && !fresh.is_empty() {
            let len = PIECE.min(range.end - at).min(remaining);
            let read = peek::read(at, &mut bytes[..len]);
            found.extend(take_referenced(&mut fresh, peek::words(&bytes[..read])));
            remaining -= len;
            // Skips unreadable pages.
            at = if read == len { at + len } else { (at + read + 1).next_multiple_of(PAGE) };
        }
    }
    found
}

/// Removes and returns each range that contains the target of one of the words.
fn take_referenced(fresh: &mut Vec<Range<usize>>, words: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bounds = |fresh: &[Range<usize>]| {
        let (start, end) = (fresh.iter().map(|range| range.start).min(), fresh.iter().map(|range| range.end).max());
        start.unwrap_or(0)..end.unwrap_or(0)
    };
    let mut all = bounds(fresh);
    for word in words {
        // Skips words outside of all ranges first, because most words are not addresses.
        if word < all.start || word >= all.end {
            continue;
        }
        if let Some(at) = fresh.iter().position(|range| range.contains(&word)) {
            found.push(fresh.swap_remove(at));
            all = bounds(fresh);
        }
    }
    found
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list with one range, not of its elements")]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Range;

    use super::{ARENA, Mapped, Maps, fresh, is_memory, is_of_the_c_library, take_referenced};

    fn memory(range: Range<usize>) -> Mapped<'static> {
        Mapped { range, rights: b"rw-p", device: "00:00", inode: "0", name: b"" }
    }

    /// Returns the untracked ranges of simulated memory that contains these words.
    fn check(list: &[Mapped<'_>], known: &[Range<usize>], words: &[(usize, usize)]) -> Vec<Range<usize>> {
        let words: BTreeMap<_, _> = words.iter().copied().collect();
        let word = |at| words.get(&at).copied();
        let read = |at: usize, into: &mut [u8]| {
            for (offset, word_bytes) in into.chunks_exact_mut(8).enumerate() {
                word_bytes.copy_from_slice(&word(at + 8 * offset).unwrap_or(0).to_ne_bytes());
            }
            into.len()
        };
        fresh(list, known, word, read)
    }

    #[test]
    fn memory_is_anonymous_or_of_a_file_without_path() {
        let check = |line: &[u8], expected| assert_eq!(is_memory(&Mapped::of(line).unwrap()), expected);
        check(b"1000-3000 rw-p 00000000 00:01 77                         /memfd:a name (deleted)", true);
        check(b"1000-2000 rw-p 00000000 00:00 0 ", true);
        check(b"1000-2000 ---p 00000000 00:00 0 ", false);
        check(b"1000-2000 r-xp 00000000 00:00 0          [vdso]", false);
        check(b"1000-2000 rw-p 00000000 08:01 5          /lib/libc.so.6", false);
    }

    #[test]
    fn earlier_and_recorded_memory_is_not_fresh() {
        let list = [memory(0x1_0000..0x2_0000), memory(0x4_0000..0x5_0000)];
        assert_eq!(check(&list, &[], &[]), [0x1_0000..0x2_0000, 0x4_0000..0x5_0000]);
        assert_eq!(check(&list, &[0x1_0000..0x2_0000, 0x4_0000..0x4_8000], &[]), [0x4_8000..0x5_0000]);
        let reserved = Mapped { rights: b"---p", ..memory(0x1_0000..0x2_0000) };
        let file = Mapped { name: b"/lib/libc.so.6", ..memory(0x4_0000..0x5_0000) };
        assert_eq!(check(&[reserved, file], &[], &[]), []);
    }

    #[test]
    fn large_blocks_and_arenas_of_the_c_library_are_not_fresh() {
        let list = [memory(0x1_0000..0x2_0000)];
        let block = |at: usize, len: usize| (at + 8, len | 2);
        assert_eq!(check(&list, &[], &[block(0x1_0000, 0x1_0000)]), []);
        // Two blocks, followed by other data.
        let two = [block(0x1_0000, 0x4000), block(0x1_4000, 0x4000)];
        assert_eq!(check(&list, &[], &two), [0x1_8000..0x2_0000]);
        for (_, len) in [("too long", 0x1_1002), ("not mapped by itself", 0x1_0001), ("no pages", 0x802), ("none", 2)] {
            assert_eq!(check(&list, &[], &[(0x1_0008, len)]), [0x1_0000..0x2_0000], "{len:#x}");
        }
        let arena = memory(ARENA..ARENA + 0x2_1000);
        let words = [(ARENA, 0x30), (ARENA + 16, 0x2_0000), (ARENA + 24, 0x2_1000)];
        assert_eq!(check(std::slice::from_ref(&arena), &[], &words), []);
        assert!(is_of_the_c_library(ARENA + 0x100, std::slice::from_ref(&arena), |at| words
            .iter()
            .find(|word| word.0 == at)
            .map(|word| word.1)));
        assert!(!is_of_the_c_library(ARENA + 0x100, &[arena], |_| None));
        let heap = Mapped { name: b"[heap]", ..memory(0x1000..0x2000) };
        assert!(is_of_the_c_library(0x1800, &[heap], |_| None));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_stack_of_a_thread_is_not_fresh() {
        let list = [memory(0x1_0000..0x2_0000)];
        let record = 0x2_0000 - 0x940;
        assert_eq!(check(&list, &[], &[(record, record), (record + 16, record)]), []);
        assert_eq!(check(&list, &[], &[(record, record), (record + 16, record + 8)]), [0x1_0000..0x2_0000]);
    }

    #[test]
    fn referenced_ranges_count_once_and_others_not_at_all() {
        let mut fresh = vec![0x1000..0x2000, 0x5000..0x6000, 0x9000..0xa000];
        let words = [0, 0x2000, 0x5fff, 0x5000, 0x9000, usize::MAX];
        assert_eq!(take_referenced(&mut fresh, words.into_iter()), [0x5000..0x6000, 0x9000..0xa000]);
        assert_eq!(fresh, [0x1000..0x2000]);
        assert_eq!(take_referenced(&mut Vec::new(), words.into_iter()), []);
    }

    #[test]
    fn this_process_has_a_list_and_an_allocator_of_the_c_library() {
        let maps = Maps::read_short().expect("it is short");
        let list: Vec<_> = maps.all().collect();
        let own = Box::new(7_u64);
        assert!(is_of_the_c_library(std::ptr::from_ref(&*own).addr(), &list, super::peek::word));
    }
}
