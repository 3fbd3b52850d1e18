//! Memory scan for references to an image that is about to be unmapped, in the manner of a conservative garbage collector.
//!
//! The roots are the variables of all libraries and of the program. The search follows pointers of a *library* into blocks of the C heap,
//! because libraries usually store tables of callbacks in such blocks. The search skips blocks to which no pointer refers, because they
//! contain stale values of freed data. Pointers of the program and of other images are not followed, because they refer to the host's own
//! data about images. Pointers of the C library are followed over short distances only, because they refer to memory of the whole process.
//! Callbacks that an image registers with the C library are recorded by hooks. Pointers of the remaining libraries are followed over a few
//! blocks, because more distant blocks usually belong to unrelated code. On a path of pointers, consecutive blocks of equal size count as
//! one block, because they usually are the elements of one list. The search skips free memory, stream buffers, environment strings, the
//! time zone, and completed requests of the C library. Stacks, registers and thread-locals are excluded. The loader is excluded because it
//! refers to every image until the image is closed.
//!
//! Libraries with their own allocators (Python, GLib) store callbacks in memory that they mapped themselves, and use interior pointers. A
//! word of a library is therefore followed into the block that encloses its target. If the target is in a mapping of neither the C library
//! nor an image, the search continues in the page of the target.
//!
//! Blocks are visited in order of their distance, up to limits of count, size and time. A search that reaches a limit is reported as
//! incomplete, and the image stays mapped.
//!
//! The search takes no locks and stops no threads. Memory is read through the kernel, so that concurrent unmapping causes no fault.

mod blocks;
mod leaves;
mod names;
mod objects;

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use blocks::Blocks;
use objects::Object;

use super::c::peek::{self, PAGE, WORD, words};
use super::c::{library, loader};
use super::ranges::Ranges;
use super::{c_heap, environment, lock, requests, streams, untracked};
use crate::end_report::ReferenceSearch;
use crate::ledger::repair::Repair;
use crate::reference::{Reference, SearchResult, Target};

pub(super) const REPAIR: Repair = Repair {
    name: "a reference in memory",
    is_mapped: |image, mapping| lock(&IMAGES).push((image.owner(), mapping.ranges().to_vec())),
    search: |image, search, path| {
        let records = &image.records;
        let is_enabled = match search {
            ReferenceSearch::Never => false,
            ReferenceSearch::WithLibraries => records.companions.has_others(),
            ReferenceSearch::Always => true,
        };
        let (memory, blocks) =
            if is_enabled { (records.pages.all(), c_heap::all(image.owner())) } else { return None };
        let libraries = records.companions.within_reach(&records.lookups);
        Some(search_memory(&Going { image: records.code(), memory, blocks, libraries, path }))
    },
    free: |gone, _| lock(&IMAGES).retain(|(other, _)| *other != gone.image().owner()),
    ..Repair::NONE
};

const MOST_FOUND: usize = 16;

const MOST_BLOCKS: usize = 1 << 18;
const MOST_BYTES: usize = 64 << 20;

const LONGEST_SEARCH: Duration = Duration::from_secs(1);

/// Rules for the pointers of one kind of library. A distance is the number of blocks between a variable and a word. More distant blocks
/// contain more stale words than references.
#[derive(Clone, Copy)]
struct Reach {
    /// Maximum distance at which a word counts as a reference to a segment of the image.
    to_image: u32,
    /// Maximum distance at which a word counts as a reference to the image's heap or mappings. Smaller than `to_image`, because earlier
    /// blocks may have used these addresses, so that a matching word is more often stale.
    to_memory: u32,
    /// `true` if only addresses of functions count as references. Numbers in variables, combined with stale padding, sometimes resemble
    /// addresses in an image or its memory. Such numbers rarely resemble the start of a function.
    functions_only: bool,
    /// `true` if interior pointers into blocks and mappings are followed.
    inside: bool,
}

impl Reach {
    /// Rules for libraries. The distance suffices to follow a GLib object to its class, its signals and the closures of a signal.
    const OF_LIBRARY: Self = Self { to_image: 8, to_memory: 2, functions_only: false, inside: true };
    /// Rules for the C library. The distance suffices to follow a table to its elements. More distant blocks may contain stale data behind
    /// a short string.
    const OF_C: Self = Self { to_image: 2, to_memory: 0, functions_only: false, inside: false };
    const NONE: Self = Self { to_image: 0, to_memory: 0, functions_only: false, inside: false };
    /// Rules for a library that the image could not call. Such a library stores at most addresses of functions, such as earlier signal
    /// handlers.
    const OF_OTHERS: Self = Self { functions_only: true, ..Self::NONE };

    fn has(self, distance: u32, is_in_image: bool) -> bool {
        distance <= if is_in_image { self.to_image } else { self.to_memory }
    }
}

/// Maximum number of bytes that are searched in a block. Tables are at the start of a block, and longer blocks contain data.
const LONGEST_BLOCK: usize = 4 << 20;

/// Address ranges of mapped images, by the address of their ledger.
static IMAGES: Mutex<Vec<(usize, Vec<Range<usize>>)>> = Mutex::new(Vec::new());

pub(super) fn images() -> Vec<Range<usize>> {
    lock(&IMAGES).iter().flat_map(|(_, ranges)| ranges.clone()).collect()
}

/// Memory that is about to be freed or unmapped.
struct Going<'a> {
    image: &'a [Range<usize>],
    memory: Vec<Range<usize>>,
    /// Blocks of the C heap to be freed with the image, sorted by address.
    blocks: Vec<Range<usize>>,
    /// Base addresses of the libraries that may have received an address of the image. `None` if these libraries are unknown.
    libraries: Option<HashSet<usize>>,
    path: &'a Path,
}

/// Sorted form of [`Going`] for fast lookups.
struct Targets {
    ranges: Vec<Range<usize>>,
    image: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    guard: Option<usize>,
}

#[derive(Clone, Copy)]
struct Chain {
    object: usize,
    variable: usize,
    blocks: u32,
    /// Number of preceding blocks, except blocks of about the same size as their predecessor.
    distance: u32,
    len: usize,
    reach: Reach,
}

struct Walk<'a> {
    objects: &'a [Object],
    targets: Targets,
    blocks: Blocks,
    /// Mappings that belong to neither the C library nor an image.
    mapped: Ranges,
    begun: Instant,
    /// Variables of the C library that are not followed, because they refer to free memory.
    free_lists: Option<Range<usize>>,
    streams: HashSet<usize>,
    /// Requested sizes of the image's own blocks.
    sizes: HashMap<usize, usize>,
    /// Blocks whose content is not searched, such as stream buffers.
    buffers: HashSet<usize>,
    /// Blocks of past requests. The C library may still store the addresses of these blocks, but no longer uses them.
    requests: HashSet<usize>,
    seen: HashSet<usize>,
    next: VecDeque<(usize, usize, Chain)>,
    hits: Vec<(Chain, usize)>,
    reported: HashSet<usize>,
    path: &'a Path,
    files: names::Files,
    result: SearchResult,
}

/// Returns the references to the image, and the image's blocks on the C heap to which variables outside of the image refer.
fn search_memory(going: &Going<'_>) -> (SearchResult, HashSet<usize>) {
    let begun = Instant::now();
    let objects = objects::mapped();
    let writable = objects.iter().flat_map(|object| object.variables.iter().map(pages));
    let own = going.image.iter().chain(&going.memory).map(pages);
    let leaves::Streams { streams, buffers } = leaves::streams();
    let mut walk = Walk {
        objects: &objects,
        targets: Targets::new(going, &objects),
        blocks: Blocks::now(&writable.chain(own).collect::<Vec<_>>()),
        mapped: untracked::of_libraries(&going.memory),
        begun,
        free_lists: objects.iter().find_map(leaves::free_lists),
        streams,
        sizes: going.blocks.iter().map(|block| (block.start, block.len())).collect(),
        buffers: (buffers.into_iter().chain(environment::strings()).chain(streams::forwarding_records()))
            .chain(objects.iter().find_map(leaves::time_zone))
            .collect(),
        requests: requests::all_submitted(),
        seen: HashSet::new(),
        next: VecDeque::new(),
        hits: Vec::new(),
        reported: HashSet::new(),
        path: going.path,
        files: names::Files::default(),
        result: SearchResult::default(),
    };
    let images = images();
    for (at, object) in objects.iter().enumerate() {
        let is_within =
            |ranges: &[Range<usize>]| object.dynamic.is_some_and(|at| ranges.iter().any(|range| range.contains(&at)));
        // Skips other images, because an image receives addresses of a second image only from the host, and the host then holds a lease.
        // Signal handlers of other images are called through the host. Apparent references in other images are therefore stale, for example
        // from the stack of a finished thread.
        if object.lists_images() || is_within(going.image) || is_within(&images) {
            continue;
        }
        let is_beyond = going.libraries.as_ref().is_some_and(|libraries| !libraries.contains(&object.base));
        let reach = if object.is_program() {
            Reach::NONE
        } else if object.is_c_library() {
            Reach::OF_C
        } else if is_beyond {
            Reach::OF_OTHERS
        } else {
            Reach::OF_LIBRARY
        };
        for variables in &object.variables {
            walk.variables(at, variables, reach);
        }
    }
    walk.follow();
    let Walk { hits, mut result, seen, mut files, .. } = walk;
    let kept = going.blocks.iter().filter(|block| seen.contains(&block.start)).map(|block| block.start).collect();
    result.found = named(going, &mut files, &objects, &hits);
    result.elapsed = begun.elapsed();
    (result, kept)
}

/// Checks if a word may be an address in a program.
fn is_address(word: usize) -> bool {
    /// Number of bits of the highest address. Addresses on x86-64 have 47 bits, and addresses on aarch64 have 48 bits.
    const BITS: u32 = 48;
    word >= PAGE && word >> BITS == 0
}

fn pages(range: &Range<usize>) -> Range<usize> {
    range.start - range.start % PAGE..range.end.next_multiple_of(PAGE)
}

impl Targets {
    fn new(going: &Going<'_>, objects: &[Object]) -> Self {
        let for_loader: Vec<_> = objects.iter().flat_map(|object| object.for_loader.clone()).collect();
        let segments = going.image.iter().flat_map(|range| objects::without(range.clone(), &for_loader));
        let mut ranges: Vec<_> = segments.chain(going.memory.iter().cloned()).collect();
        ranges.sort_by_key(|range| range.start);
        let is_going = |code: &&Range<usize>| going.image.iter().any(|range| range.contains(&code.start));
        let code = objects.iter().flat_map(|object| &object.code).filter(is_going).cloned().collect();
        Self { ranges, image: going.image.to_vec(), code, guard: library::pointer_guard() }
    }

    /// Checks if an address in the image is the start of a function, according to the unwind tables.
    fn is_function(&self, address: usize) -> bool {
        let is_code = self.code.iter().any(|range| range.contains(&address));
        is_code && loader::enclosing(address).is_none_or(|start| start == address)
    }

    /// Returns the target of a word if the target is about to be freed or unmapped.
    fn hit(&self, word: usize) -> Option<usize> {
        let behind = self.ranges.partition_point(|range| range.start <= word);
        if behind.checked_sub(1).is_some_and(|at| self.ranges[at].contains(&word)) {
            return Some(word);
        }
        // The C library stores some function addresses in a mangled form.
        let plain = word.rotate_right(17) ^ self.guard?;
        self.image.iter().any(|range| range.contains(&plain)).then_some(plain)
    }
}

impl Chain {
    /// Extends the path by a block of this size. Returns `None` if the block is too distant. Blocks of almost equal size count as equal,
    /// because a block may be slightly larger than requested.
    fn through(self, len: usize) -> Option<Self> {
        let distance = self.distance + u32::from(self.len.abs_diff(len) > 2 * WORD);
        (distance <= self.reach.to_image).then_some(Self { blocks: self.blocks + 1, distance, len, ..self })
    }
}

impl Walk<'_> {
    fn variables(&mut self, object: usize, range: &Range<usize>, reach: Reach) {
        let is_of_c = self.objects[object].is_c_library();
        peek::each_piece(range.start.next_multiple_of(WORD)..range.end, |at, bytes| {
            self.result.variables += bytes.len() as u64;
            for (index, word) in words(bytes).enumerate() {
                let variable = at + index * WORD;
                if is_of_c && leaves::is_room(word) {
                    continue;
                }
                let is_free = self.free_lists.as_ref().is_some_and(|lists| lists.contains(&variable));
                let reach = if is_free { Reach { functions_only: reach.functions_only, ..Reach::NONE } } else { reach };
                self.word(word, Chain { object, variable, blocks: 0, distance: 0, len: 0, reach });
            }
        });
    }

    fn word(&mut self, word: usize, chain: Chain) {
        // Skips small numbers and strings, the most frequent words. A mangled function address may be any other number.
        let is_plain = is_address(word);
        if !is_plain && (word < PAGE || self.targets.guard.is_none()) {
            return;
        }
        if let Some(target) = self.targets.hit(word) {
            let is_going = |word: usize| self.targets.image.iter().any(|range| range.contains(&word));
            let is_for_fork = chain.blocks == 0
                && self.objects[chain.object].is_c_library()
                && leaves::is_for_fork(chain.variable, is_going);
            let is_near = chain.reach.has(chain.distance, is_going(target));
            let counts = !chain.reach.functions_only || self.targets.is_function(target);
            if is_near && counts && !is_for_fork && !self.is_handle(target) && self.reported.insert(chain.variable) {
                self.hits.push((chain, target));
            }
        } else if chain.reach.to_image > 0
            && is_plain
            && !self.seen.contains(&word)
            && let Some((block, len, reach)) = self.block_of(word, chain.reach)
            && !self.seen.contains(&block)
            && let Some(chain) = (Chain { reach, ..chain }).through(len)
        {
            self.seen.insert(block);
            if self.seen.len() > MOST_BLOCKS
                || self.result.block_bytes as usize > MOST_BYTES
                || self.begun.elapsed() > LONGEST_SEARCH
            {
                self.result.is_cut_short = true;
                return;
            }
            self.result.blocks += 1;
            self.result.block_bytes += len as u64;
            self.next.push_back((block, len.min(LONGEST_BLOCK), chain));
        }
    }

    /// Returns the block that starts at this word, its size, and the reach from this block on. If no block starts there, returns the page
    /// of a mapping or the enclosing block. In such a page or enclosing block, only references to the image's segments are considered.
    fn block_of(&mut self, word: usize, reach: Reach) -> Option<(usize, usize, Reach)> {
        if let Some(len) = self.blocks.len(word) {
            return Some((word, len, reach));
        }
        if !reach.inside {
            return None;
        }
        let within = Reach { to_memory: 0, ..reach };
        let page = word - word % PAGE;
        if self.mapped.contains(page) {
            return Some((page, PAGE, within));
        }
        self.blocks.around(word).map(|(block, len)| (block, len, within))
    }

    /// Checks if `target` is the image's `__dso_handle`, by which the C library identifies the image. It is the first variable in the
    /// image's `.data`, and points to itself. A stored address of `__dso_handle` is not a reference, because the C library only compares
    /// the address and the host records it.
    fn is_handle(&mut self, target: usize) -> bool {
        let offset = target.checked_sub(begin(&self.targets.image)).map(|offset| offset as u64);
        peek::word(target) == Some(target) && offset == self.files.section(self.path, ".data")
    }

    /// Checks if a block of the C library is a string or begins with the address of a name, and therefore is not searched.
    fn is_leaf(&mut self, block: usize, len: usize) -> bool {
        let mut begin = [0; 4 * WORD];
        if leaves::is_text(&self.blocks.bytes(block, len.min(begin.len()))) {
            return true;
        }
        let there = self.blocks.word(block).map_or(0, |first| peek::read(first, &mut begin));
        leaves::is_name(&begin[..there])
    }

    fn follow(&mut self) {
        let dynamics: HashMap<usize, usize> =
            self.objects.iter().filter_map(|object| Some((object.dynamic?, object.base))).collect();
        while let Some((block, len, chain)) = self.next.pop_front() {
            if self.buffers.contains(&block) {
                continue;
            }
            // Skips the loader's record of an object, which begins with the object's base address, name and dynamic table. The record
            // exists until the object is closed, and any code that has opened the object stores the address of the record.
            let base = self.blocks.word(block + 2 * WORD).and_then(|dynamic| dynamics.get(&dynamic));
            if base.is_some() && base.copied() == self.blocks.word(block) {
                continue;
            }
            // For the image's own blocks, the requested size is known, and words beyond this size are stale.
            let len = self.sizes.get(&block).map_or(len, |size| len.min(*size));
            let all = 0..len & !(WORD - 1);
            let is_of_c = self.objects[chain.object].is_c_library();
            if is_of_c && self.is_leaf(block, len) {
                continue;
            }
            let words =
                if self.streams.contains(&block) { leaves::CALLED.start..leaves::CALLED.end.min(all.end) } else { all };
            let mut places = (block + words.start..block + words.end).step_by(WORD);
            while let Some(word) = next_word(&mut places, |at| self.blocks.word(at), &self.requests, is_of_c) {
                self.word(word, chain);
            }
        }
    }
}

/// Returns the next word of a block that can be a reference. Skips the addresses of past requests. In the C library's record of a request,
/// also skips the next word, which is the address of the waiters and may point to the stack of an ended thread. In blocks of other
/// libraries, this next word is not skipped, because it may be a function.
fn next_word(
    places: &mut impl Iterator<Item = usize>,
    mut read: impl FnMut(usize) -> Option<usize>,
    requests: &HashSet<usize>,
    is_of_c: bool,
) -> Option<usize> {
    loop {
        match read(places.next()?) {
            Some(word) if !requests.contains(&word) => return Some(word),
            Some(_) if is_of_c => _ = places.next(),
            Some(_) | None => {}
        }
    }
}

fn named(going: &Going<'_>, files: &mut names::Files, objects: &[Object], hits: &[(Chain, usize)]) -> Vec<Reference> {
    let base = begin(going.image);
    let mut found = Vec::new();
    for (chain, target) in hits {
        if found.len() == MOST_FOUND {
            break;
        }
        let object = &objects[chain.object];
        let address = (chain.variable - object.base) as u64;
        let location = files.location(&object.path, address);
        // Two adjacent small numbers may resemble an address. A word that still has its initial value from the file is never an address.
        // After a panic of the host in a call by the image, the padding of the cache for backtraces contains stale stack words.
        if chain.blocks == 0
            && (names::is_backtrace_cache(&location)
                || files.initial(&object.path, address).is_some_and(|word| peek::word(chain.variable) == Some(word)))
        {
            continue;
        }
        let target = if !going.image.iter().any(|range| range.contains(target)) {
            Target::Memory
        } else {
            let offset = target - base;
            files
                .symbol(going.path, offset as u64)
                .map_or(Target::Image(offset), |(name, behind)| Target::Symbol(name, behind))
        };
        found.push(Reference { library: object.name(), location, blocks: chain.blocks, target });
    }
    found
}

fn begin(image: &[Range<usize>]) -> usize {
    image.iter().map(|range| range.start).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Chain, Reach, is_address, next_word};

    #[test]
    fn addresses_of_every_machine_are_followed() {
        // Addresses of a library on x86-64, and of a library and the heap on aarch64.
        assert!([0x7fff_f7d8_1000, 0xffff_8f5c_0000, 0xaaaa_d0e0_0000].into_iter().all(is_address));
        assert!(![0, 8, usize::from_ne_bytes(*b"libssl.s"), usize::MAX].into_iter().any(is_address));
    }

    #[test]
    fn only_records_of_the_c_library_have_a_stale_word_after_the_address_of_a_request() {
        let (block, requests) = ([10, 20, 30, 40], HashSet::from([20]));
        let words = |is_of_c| {
            let (mut places, read) = (0..6, |at: usize| block.get(at).copied());
            std::iter::from_fn(|| next_word(&mut places, read, &requests, is_of_c)).collect::<Vec<_>>()
        };
        assert_eq!(words(true), [10, 40]);
        assert_eq!(words(false), [10, 30, 40]);
    }

    #[test]
    fn lists_of_any_length_are_near_and_distant_blocks_are_not() {
        let reach = |to_image| Reach { to_image, ..Reach::NONE };
        let from = |most| Chain { object: 0, variable: 0, blocks: 0, distance: 0, len: 0, reach: reach(most) };
        let end = |most, lens: &[usize]| {
            lens.iter().try_fold(from(most), |chain, len| chain.through(*len)).map(|chain| chain.blocks)
        };
        assert_eq!(end(2, &[24; 100]), Some(100));
        assert_eq!(end(2, &[24, 24, 72, 72]), Some(4));
        assert_eq!(end(2, &[24, 40, 24, 40, 24]), Some(5));
        assert_eq!(end(2, &[24, 72, 24]), None);
        assert_eq!(end(0, &[24]), None);
    }

    #[test]
    fn pointers_to_memory_reach_less_far_than_pointers_to_the_image() {
        let at = |distance| {
            [Reach::OF_LIBRARY, Reach::OF_C].map(|reach| (reach.has(distance, true), reach.has(distance, false)))
        };
        assert_eq!(at(0), [(true, true), (true, true)]);
        assert_eq!(at(2), [(true, true), (true, false)]);
        assert_eq!(at(3), [(true, false), (false, false)]);
    }
}
