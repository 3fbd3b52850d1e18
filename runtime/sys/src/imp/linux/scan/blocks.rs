//! Recognizes blocks of the C heap by the words around them. These words are read through the kernel and checked for consistency, because
//! other threads allocate and free blocks during the search.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::super::c::library::Block;
use super::super::c::peek::{self, PAGE, WORD};
use super::super::proc::{Mapped, Maps};
use super::objects::without;

const PIECE: usize = 16 * 1024;

/// Maximum offset of an interior pointer that is resolved to its block. Allocators on top of the C library allocate smaller blocks.
const FURTHEST_INSIDE: usize = 16 * 1024;

/// Flags in the word before a block. Their meanings, in order: the previous block is in use, the block is a separate mapping, and the block
/// belongs to a thread's heap.
const BEFORE_IS_USED: usize = 1;
const IS_MAPPED: usize = 2;
const OF_A_THREAD: usize = 4;
const FLAGS: usize = 15;

const LARGEST: usize = 1 << 40;

/// Memory that may contain blocks, with a cache of the memory's content.
pub(super) struct Blocks {
    /// Writable anonymous memory, sorted.
    regions: Vec<Range<usize>>,
    /// Region that grows by `brk`.
    main: Option<Range<usize>>,
    pieces: HashMap<usize, Box<[u8]>>,
    /// Blocks found around an address. Maps the start of each block to its end.
    around: BTreeMap<usize, usize>,
    /// Addresses without an enclosing block.
    outside: HashSet<usize>,
    /// Mark of a freed block: the C library writes this value to the second word of each block in a thread's cache. `None` if unknown.
    freed: Option<usize>,
}

impl Blocks {
    /// Lists the memory of this process, except `others`.
    pub(super) fn now(others: &[Range<usize>]) -> Self {
        let maps = Maps::read();
        let regions: Vec<_> = maps.iter().flat_map(Maps::all).filter_map(|mapped| region(&mapped)).collect();
        let main = regions.iter().find(|(_, is_main)| *is_main).map(|(range, _)| range.clone());
        let regions = regions.into_iter().flat_map(|(range, _)| without(range, others)).collect();
        Self {
            regions,
            main,
            pieces: HashMap::new(),
            around: BTreeMap::new(),
            outside: HashSet::new(),
            freed: freed_mark(),
        }
    }

    /// Returns the size of the block at this address, if a used block starts there.
    pub(super) fn len(&mut self, address: usize) -> Option<usize> {
        if !address.is_multiple_of(2 * WORD) {
            return None;
        }
        let region = self.region_of(address).filter(|region| address - region.start >= 2 * WORD)?;
        let head = self.word(address - WORD)?;
        let size = head & !FLAGS;
        if !(4 * WORD..LARGEST).contains(&size) || head & 8 != 0 {
            return None;
        }
        let chunk = address - 2 * WORD;
        let end = chunk.checked_add(size).filter(|end| *end <= region.end)?;
        if head & IS_MAPPED != 0 {
            let before = self.word(chunk)?;
            let is_whole = |number: usize| number.is_multiple_of(PAGE);
            let fits = before < size && is_whole(chunk.wrapping_sub(before)) && is_whole(size.wrapping_add(before));
            return fits.then_some(size - 2 * WORD);
        }
        let is_of_main = self.main.as_ref().is_some_and(|main| main.contains(&address));
        if is_of_main && head & OF_A_THREAD != 0 {
            return None;
        }
        // A flag in the size word of the next block shows if this block is in use.
        let next = self.word(end.checked_add(WORD).filter(|at| *at < region.end)?)?;
        let next_size = next & !FLAGS;
        let is_sound = next & BEFORE_IS_USED != 0 && next & 8 == 0 && (2 * WORD..LARGEST).contains(&next_size);
        (is_sound && !self.is_cached(address)).then_some(size - WORD)
    }

    /// Returns `true` if a thread's cache contains the block: the second word is the mark, and the first word links to the next free block. A
    /// used block may still contain the mark of an earlier free block at its address.
    fn is_cached(&mut self, address: usize) -> bool {
        if self.freed.is_none() || self.word(address + WORD) != self.freed {
            return false;
        }
        let Some(link) = self.word(address) else { return false };
        // Recent versions of the C library store the link combined with its own address.
        [link, link ^ (address >> 12)]
            .iter()
            .any(|next| *next == 0 || next.is_multiple_of(2 * WORD) && self.region_of(*next).is_some())
    }

    fn region_of(&self, address: usize) -> Option<Range<usize>> {
        let behind = self.regions.partition_point(|region| region.start <= address);
        self.regions[..behind].last().filter(|region| region.contains(&address)).cloned()
    }

    /// Returns the used block with this interior address, and its size.
    pub(super) fn around(&mut self, address: usize) -> Option<(usize, usize)> {
        let address = address - address % (2 * WORD);
        let region = self.region_of(address)?;
        if self.outside.contains(&address) {
            return None;
        }
        if let Some((start, end)) = self.around.range(..=address).next_back().filter(|(_, end)| address < **end) {
            return Some((*start, end - start));
        }
        let first = region.start.max(address.saturating_sub(FURTHEST_INSIDE));
        for start in (first..=address).rev().step_by(2 * WORD) {
            if let Some(len) = self.len(start) {
                if address - start < len {
                    self.around.insert(start, start + len);
                    return Some((start, len));
                }
                break;
            }
        }
        self.outside.insert(address);
        None
    }

    pub(super) fn bytes(&mut self, address: usize, len: usize) -> Vec<u8> {
        (0..len / WORD).filter_map(|at| self.word(address + at * WORD)).flat_map(usize::to_ne_bytes).collect()
    }

    pub(super) fn word(&mut self, address: usize) -> Option<usize> {
        let (start, at) = (address - address % PIECE, address % PIECE);
        let piece = self.pieces.entry(start).or_insert_with(|| piece(start));
        let bytes = piece.get(at..at + WORD)?;
        Some(usize::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// Reads a piece of memory, with zeros in place of unmapped pages, because a region may start or end inside of a piece.
fn piece(start: usize) -> Box<[u8]> {
    let mut bytes = vec![0; PIECE].into_boxed_slice();
    if peek::read(start, &mut bytes) < PIECE {
        for (page, part) in bytes.chunks_mut(PAGE).enumerate() {
            let there = peek::read(start + page * PAGE, part);
            part[there..].fill(0);
        }
    }
    bytes
}

/// Returns a region of writable anonymous memory, and `true` if the region grows by `brk`.
fn region(mapped: &Mapped<'_>) -> Option<(Range<usize>, bool)> {
    let (name, is_heap) = (mapped.name, mapped.name == b"[heap]");
    let is_anonymous = mapped.inode == "0" && (name.is_empty() || is_heap || name.starts_with(b"[anon"));
    (mapped.rights == b"rw-p" && is_anonymous).then(|| (mapped.range.clone(), is_heap))
}

/// Reads the second word of a block that was just freed.
fn freed_mark() -> Option<usize> {
    let mark = || {
        let block = std::hint::black_box(Block::new(1000)?);
        let address = block.address();
        drop(block);
        peek::word(address + WORD)
    };
    // The second word is a random number that is constant per process. The C library writes this number only if the thread's cache has room
    // for a block of this size.
    let (first, second) = (mark()?, mark()?);
    (first == second && first > u32::MAX as usize).then_some(first)
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::{Block, Blocks, Mapped, region};

    #[test]
    fn used_blocks_are_distinguished_from_free_ones() {
        for size in [1usize, 24, 25, 100, 1_000, 5_000, 200_000, 3_000_000] {
            // Repeats the check, because a concurrent test may reuse the freed block or change the next block, and the search itself may
            // allocate a block.
            assert!((0..20).any(|_| is_recognized(size)), "freed, of {size}");
        }
    }

    /// Checks if all used blocks and no freed blocks are recognized.
    fn is_recognized(size: usize) -> bool {
        // Frees only every second block, so that freed blocks have no free neighbors. The blocks are zeroed, because memory of an ended
        // thread may contain the mark of a freed block.
        let mut blocks: [_; 16] = std::array::from_fn(|_| Block::zeroed(size));
        let addresses = blocks.each_ref().map(|block| block.as_ref().expect("there is memory").address());
        let mut before = Blocks::now(&[]);
        let is_one = |block: usize| before.len(block).is_some_and(|len| len >= size && len < size + 8192);
        let are_blocks = addresses.map(is_one).into_iter().all(|is_one| is_one);
        drop(before);
        blocks.iter_mut().step_by(2).for_each(|block| *block = None);
        let mut after = Blocks::now(&[]);
        are_blocks && addresses.into_iter().step_by(2).any(|block| after.len(block).is_none())
    }

    #[test]
    fn blocks_of_other_threads_are_found() {
        let there = std::thread::spawn(|| {
            // Zeroed, because memory of an ended thread may contain the mark of a freed block.
            let block = Block::zeroed(500)?;
            let len = Blocks::now(&[]).len(block.address());
            drop(block);
            len
        });
        assert!(there.join().expect("it returns").is_some_and(|len| (500..600).contains(&len)));
    }

    #[test]
    fn a_used_block_with_an_old_mark_is_recognized() {
        let mark = super::freed_mark().expect("the C library marks freed blocks");
        let block = Box::new([1, mark, 3, 4]);
        assert!(Blocks::now(&[]).len(block.as_ptr().addr()).is_some());
    }

    #[test]
    fn an_inner_address_resolves_to_its_block() {
        let block = Block::new(10_000).expect("there is memory");
        let start = block.address();
        let mut now = Blocks::now(&[]);
        for inside in [0, 8, 24, 4_096, 9_992] {
            let (found, len) = now.around(start + inside).expect("it is in use");
            assert!(found == start && len >= 10_000, "{inside}: {found:#x} of {start:#x}");
        }
        let local = 7u64;
        assert_eq!(now.around(ptr::from_ref(&local).addr()), None);
        drop(block);
    }

    #[test]
    fn addresses_outside_of_blocks_are_rejected() {
        let local = 7u64;
        let mut blocks = Blocks::now(&[]);
        for address in [0, 16, usize::MAX - 15, ptr::from_ref(&local).addr() & !15, (region as *const ()).addr() & !15]
        {
            assert_eq!(blocks.len(address), None, "{address:#x}");
        }
    }

    #[test]
    fn only_anonymous_memory_that_may_be_written_has_blocks() {
        let check = |line: &str, expected| {
            let mapped = Mapped::of(line.as_bytes()).expect("it is a line");
            assert_eq!(region(&mapped), expected, "{line}");
        };
        check("1000-2000 rw-p 00000000 00:00 0                          [heap]", Some((0x1000..0x2000, true)));
        check("1000-2000 rw-p 00000000 00:00 0 ", Some((0x1000..0x2000, false)));
        check("1000-2000 rw-s 00000000 00:00 0 ", None);
        check("1000-2000 r--p 00000000 00:00 0 ", None);
        check("1000-2000 rw-p 00000000 fe:00 12   /lib/a.so", None);
        check("1000-2000 rw-p 00000000 00:00 0    [stack]", None);
        check("1000-2000 r--p 00000000 00:00 0    [vvar]", None);
    }
}
