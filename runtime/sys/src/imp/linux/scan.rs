//! Whether anything that stays in the process still leads into an image that is about to go, however it got there: a look
//! at memory as a conservative collector takes it.
//!
//! It begins with the variables of every library and of the program. What a variable of a *library* leads to on the C heap
//! is looked at too, block by block, since tables of callbacks lie there as a rule; blocks that no such variable leads to
//! are not, because words of what was freed long ago stand in them. From the program and from other images nothing is
//! followed: on the C heap they keep what the host itself knows of images. From the C library little is: its variables lead
//! to memory of the whole process, and what it lets a plugin register is on record elsewhere. From other libraries it is
//! followed for some blocks: what lies far behind a library belongs to other code as a rule. Blocks of one size that
//! lead to each other count as one, since a list is long and still near. Nor is anything followed in
//! free memory, in the buffers of streams and texts of the environment, and from what the C library remembers of requests
//! that are done. Stacks, registers and thread-locals are no part of it; neither is the loader, which knows each image until
//! it is closed.
//!
//! Libraries with allocators of their own (of Python, of GLib) keep callbacks in memory that they mapped, and refer to the
//! middle of a block. From a library, a word is therefore followed into the block around it, and into its page of a mapping
//! that belongs to neither the C library nor an image.
//!
//! Blocks are taken in the order of their distance, up to a number, a size and a time. A search that ends by one of these
//! limits reports that it is incomplete, and the image stays.
//!
//! Nothing is locked and no thread is stopped: memory is read through the kernel, so what vanishes meanwhile is no
//! fault.

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

#[cfg(target_arch = "x86_64")]
use super::c::loader;
use super::c::peek::{self, words};
use super::c::registers;
use super::ranges::Ranges;
use super::{c_heap, environment, lock, requests, strays, streams};
use crate::end_report::ReferenceSearch;
use crate::ledger::repair::Repair;
use crate::reference::{Look, Reference, Target};

const WORD: usize = size_of::<usize>();
const PAGE: usize = 4096;

pub(super) const REPAIR: Repair = Repair {
    name: "a reference in memory",
    is_mapped: |image, mapping| lock(&IMAGES).push((image.owner(), mapping.ranges().to_vec())),
    look: |image, search, path| {
        let records = &image.records;
        let looks = match search {
            ReferenceSearch::Never => false,
            ReferenceSearch::WithLibraries => records.companions.has_others(),
            ReferenceSearch::Always => true,
        };
        let (memory, blocks) = if looks { (records.pages.all(), c_heap::all(image.owner())) } else { return None };
        let libraries = records.companions.within_reach(&records.lookups);
        Some(look(&Going { image: records.code(), memory, blocks, libraries, path }))
    },
    free: |gone, _| lock(&IMAGES).retain(|(other, _)| *other != gone.image.owner()),
    ..Repair::NONE
};

/// So many references are reported: more would say nothing new.
const MOST_FOUND: usize = 16;

/// How much of the C heap a look takes in.
const MOST_BLOCKS: usize = 1 << 18;
const MOST_BYTES: usize = 64 << 20;

/// Upper limit of one search.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// How far behind a variable blocks are looked at: further off there are more words that were left over than words that lead
/// to anything.
#[derive(Clone, Copy)]
struct Reach {
    /// For words that lead to segments of the image.
    to_image: u32,
    /// For words that lead to its heap or to what it has mapped. Others had these addresses before, so that more words are
    /// left over.
    to_memory: u32,
    /// Whether only the address of a function counts. Numbers in variables, with what was left over in the padding beside
    /// them, look like addresses in an image or its memory now and then, and seldom like the very beginning of a function.
    functions_only: bool,
    /// Follows words into the middle of blocks and into mappings.
    inside: bool,
}

impl Reach {
    /// An object, its class, its signals and the closures of a signal, for one.
    const OF_LIBRARY: Self = Self { to_image: 8, to_memory: 2, functions_only: false, inside: true };
    /// A table, and what it is a table of. Behind a short text in a longer block there is what the block had in it before.
    const OF_C: Self = Self { to_image: 2, to_memory: 0, functions_only: false, inside: false };
    const NONE: Self = Self { to_image: 0, to_memory: 0, functions_only: false, inside: false };
    /// A library that the image could not call knows at most functions of it: handlers of signals that were there before its
    /// own, for one.
    const OF_OTHERS: Self = Self { functions_only: true, ..Self::NONE };

    fn has(self, distance: u32, is_in_image: bool) -> bool {
        distance <= if is_in_image { self.to_image } else { self.to_memory }
    }
}

/// So much of a block is looked at: tables come first, and what is longer is data.
const LONGEST_BLOCK: usize = 4 << 20;

/// Where images are mapped, by the address of their ledger.
static IMAGES: Mutex<Vec<(usize, Vec<Range<usize>>)>> = Mutex::new(Vec::new());

/// Where all of them are.
pub(super) fn images() -> Vec<Range<usize>> {
    lock(&IMAGES).iter().flat_map(|(_, ranges)| ranges.clone()).collect()
}

/// What must not be led to.
struct Going<'a> {
    /// The segments of the image.
    image: &'a [Range<usize>],
    /// Its heap, and what it has mapped.
    memory: Vec<Range<usize>>,
    /// Blocks of the C heap that will be freed with it, by address.
    blocks: Vec<Range<usize>>,
    /// Where the libraries begin that may have been handed an address of it; `None` where that is not known.
    libraries: Option<HashSet<usize>>,
    /// The file it was mapped from.
    path: &'a Path,
}

/// The same, sorted for quick looks.
struct Targets {
    ranges: Vec<Range<usize>>,
    image: Vec<Range<usize>>,
    /// Where its code is.
    code: Vec<Range<usize>>,
    guard: Option<usize>,
}

/// A block on the way, and how it was reached.
#[derive(Clone, Copy)]
struct Way {
    object: usize,
    variable: usize,
    /// How many blocks lie before it.
    blocks: u32,
    /// The same without those that are about as long as the one before.
    distance: u32,
    /// The length of the last one.
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
    /// Words from which nothing is followed: they lead to free memory.
    free_lists: Option<Range<usize>>,
    /// Streams of the C library.
    streams: HashSet<usize>,
    /// What was asked for when the image's own blocks were taken.
    sizes: HashMap<usize, usize>,
    /// Blocks in which nothing is looked at.
    buffers: HashSet<usize>,
    /// What the C library may still have the addresses of, and does not use.
    requests: HashSet<usize>,
    seen: HashSet<usize>,
    next: VecDeque<(usize, usize, Way)>,
    hits: Vec<(Way, usize)>,
    told: HashSet<usize>,
    path: &'a Path,
    files: names::Files,
    look: Look,
}

/// What is found, and those of the image's own blocks on the C heap that variables outside the image lead to.
fn look(going: &Going<'_>) -> (Look, HashSet<usize>) {
    let begun = Instant::now();
    let objects = objects::mapped();
    let writable = objects.iter().flat_map(|object| object.variables.iter().map(pages));
    let own = going.image.iter().chain(&going.memory).map(pages);
    let leaves::Streams { streams, buffers } = leaves::streams();
    let mut walk = Walk {
        objects: &objects,
        targets: Targets::new(going, &objects),
        blocks: Blocks::now(&writable.chain(own).collect::<Vec<_>>()),
        mapped: strays::of_libraries(&going.memory),
        begun,
        free_lists: objects.iter().find_map(leaves::free_lists),
        streams,
        sizes: going.blocks.iter().map(|block| (block.start, block.len())).collect(),
        buffers: buffers.into_iter().chain(environment::texts()).chain(streams::notes()).collect(),
        requests: requests::ever_given(),
        seen: HashSet::new(),
        next: VecDeque::new(),
        hits: Vec::new(),
        told: HashSet::new(),
        path: going.path,
        files: names::Files::default(),
        look: Look::default(),
    };
    let images = images();
    for (at, object) in objects.iter().enumerate() {
        let is_within =
            |ranges: &[Range<usize>]| object.dynamic.is_some_and(|at| ranges.iter().any(|range| range.contains(&at)));
        // Another image gets no address of this one but from the host, which has a lease then: signals are handed on by the host,
        // too. What looks like one leads to where something else was before, like the stack of a thread that has ended.
        if object.is_about_images() || is_within(going.image) || is_within(&images) {
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
    let Walk { hits, mut look, seen, mut files, .. } = walk;
    let kept = going.blocks.iter().filter(|block| seen.contains(&block.start)).map(|block| block.start).collect();
    look.found = named(going, &mut files, &objects, &hits);
    look.took = begun.elapsed();
    (look, kept)
}

/// The beginning of the function at an address; `None` where that is not known.
#[cfg(target_arch = "x86_64")]
fn function_around(address: usize) -> Option<usize> {
    loader::enclosing(address)
}

/// Not known here.
#[cfg(not(target_arch = "x86_64"))]
fn function_around(_address: usize) -> Option<usize> {
    None
}

/// The whole pages of a range.
fn pages(range: &Range<usize>) -> Range<usize> {
    range.start - range.start % 4096..range.end.next_multiple_of(4096)
}

impl Targets {
    fn new(going: &Going<'_>, objects: &[Object]) -> Self {
        let for_loader: Vec<_> = objects.iter().flat_map(|object| object.for_loader.clone()).collect();
        let segments = going.image.iter().flat_map(|range| objects::without(range.clone(), &for_loader));
        let mut ranges: Vec<_> = segments.chain(going.memory.iter().cloned()).collect();
        ranges.sort_by_key(|range| range.start);
        let is_going = |code: &&Range<usize>| going.image.iter().any(|range| range.contains(&code.start));
        let code = objects.iter().flat_map(|object| &object.code).filter(is_going).cloned().collect();
        Self { ranges, image: going.image.to_vec(), code, guard: registers::pointer_guard() }
    }

    /// Whether a function begins at an address in the image, as far as the tables of the unwinder say it.
    fn is_function(&self, address: usize) -> bool {
        let is_code = self.code.iter().any(|range| range.contains(&address));
        is_code && function_around(address).is_none_or(|start| start == address)
    }

    /// What a word leads to, if that goes.
    fn hit(&self, word: usize) -> Option<usize> {
        let behind = self.ranges.partition_point(|range| range.start <= word);
        if behind.checked_sub(1).is_some_and(|at| self.ranges[at].contains(&word)) {
            return Some(word);
        }
        // The C library keeps addresses of functions in another form.
        let plain = word.rotate_right(17) ^ self.guard?;
        self.image.iter().any(|range| range.contains(&plain)).then_some(plain)
    }
}

impl Way {
    /// On through a block of this length, unless that is too far. A block may be a little longer than what was asked for.
    fn through(self, len: usize) -> Option<Self> {
        let distance = self.distance + u32::from(self.len.abs_diff(len) > 2 * WORD);
        (distance <= self.reach.to_image).then_some(Self { blocks: self.blocks + 1, distance, len, ..self })
    }
}

impl Walk<'_> {
    fn variables(&mut self, object: usize, range: &Range<usize>, reach: Reach) {
        let mut bytes = vec![0; 64 * 1024];
        let is_of_c = self.objects[object].is_c_library();
        let mut at = range.start.next_multiple_of(WORD);
        while at < range.end {
            let room = bytes.len().min(range.end - at);
            let there = peek::read(at, &mut bytes[..room]);
            self.look.variables += there as u64;
            for (index, word) in words(&bytes[..there]).enumerate() {
                let variable = at + index * WORD;
                if is_of_c && leaves::is_room(word) {
                    continue;
                }
                let is_free = self.free_lists.as_ref().is_some_and(|lists| lists.contains(&variable));
                let reach = if is_free { Reach { functions_only: reach.functions_only, ..Reach::NONE } } else { reach };
                self.word(word, Way { object, variable, blocks: 0, distance: 0, len: 0, reach });
            }
            // What is not there is left out: pages without rights, for one.
            at += if there == 0 { 4096 - at % 4096 } else { there.next_multiple_of(WORD) };
        }
    }

    fn word(&mut self, word: usize, way: Way) {
        // Most words are small numbers, or texts.
        if word < 4096 || word >> 47 != 0 && self.targets.guard.is_none() {
            return;
        }
        if let Some(target) = self.targets.hit(word) {
            let is_going = |word: usize| self.targets.image.iter().any(|range| range.contains(&word));
            let is_for_fork = way.blocks == 0
                && self.objects[way.object].is_c_library()
                && leaves::is_for_fork(way.variable, is_going);
            let is_near = way.reach.has(way.distance, is_going(target));
            let counts = !way.reach.functions_only || self.targets.is_function(target);
            if is_near
                && counts
                && !is_for_fork
                && !self.is_handle(target)
                && self.told.insert(way.variable)
                && self.hits.len() < MOST_FOUND
            {
                self.hits.push((way, target));
            }
        } else if way.reach.to_image > 0
            && word >> 47 == 0
            && !self.seen.contains(&word)
            && let Some((block, len, reach)) = self.block_of(word, way.reach)
            && !self.seen.contains(&block)
            && let Some(way) = (Way { reach, ..way }).through(len)
        {
            self.seen.insert(block);
            if self.seen.len() > MOST_BLOCKS
                || self.look.block_bytes as usize > MOST_BYTES
                || self.begun.elapsed() > LONGEST_LOOK
            {
                self.look.is_cut_short = true;
                return;
            }
            self.look.blocks += 1;
            self.look.block_bytes += len as u64;
            self.next.push_back((block, len.min(LONGEST_BLOCK), way));
        }
    }

    /// Returns the block that a word refers to, its length and the reach behind it: the block that begins there, else the page
    /// of a mapping or the block around it. Behind the latter two, only words into the image count.
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

    /// Whether this is the variable by which the C library knows an image: the first of its `.data`, which leads to itself. It is
    /// compared and never followed, and the host has it in its own books.
    fn is_handle(&mut self, target: usize) -> bool {
        let offset = target.checked_sub(begin(&self.targets.image)).map(|offset| offset as u64);
        peek::word(target) == Some(target) && offset == self.files.section(self.path, ".data")
    }

    /// Checks that a block of the C library is a text, or begins with the address of a name.
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
        while let Some((block, len, way)) = self.next.pop_front() {
            if self.buffers.contains(&block) {
                continue;
            }
            // What the loader knows of an object begins with where it is, its name, and its dynamic table. It knows it
            // until it is closed, and any code that has opened the object has this address.
            let base = self.blocks.word(block + 2 * WORD).and_then(|dynamic| dynamics.get(&dynamic));
            if base.is_some() && base.copied() == self.blocks.word(block) {
                continue;
            }
            // Of a block of the image's own it is known what was asked for: behind that stand words that were left over.
            let len = self.sizes.get(&block).map_or(len, |size| len.min(*size));
            let all = 0..len & !(WORD - 1);
            if self.objects[way.object].is_c_library() && self.is_leaf(block, len) {
                continue;
            }
            let words =
                if self.streams.contains(&block) { leaves::CALLED.start..leaves::CALLED.end.min(all.end) } else { all };
            for at in (block + words.start..block + words.end).step_by(WORD) {
                if let Some(word) = self.blocks.word(at).filter(|word| !self.requests.contains(word)) {
                    self.word(word, way);
                }
            }
        }
    }
}

fn named(going: &Going<'_>, files: &mut names::Files, objects: &[Object], hits: &[(Way, usize)]) -> Vec<Reference> {
    let base = begin(going.image);
    let mut found = Vec::new();
    for (way, target) in hits {
        let object = &objects[way.object];
        let address = (way.variable - object.base) as u64;
        // Two small numbers beside each other may look like an address; what the file has there is none.
        if way.blocks == 0
            && files.initial(&object.path, address).is_some_and(|word| peek::word(way.variable) == Some(word))
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
        let place = files.place(&object.path, address);
        found.push(Reference { library: object.name(), place, blocks: way.blocks, target });
    }
    found
}

fn begin(image: &[Range<usize>]) -> usize {
    image.iter().map(|range| range.start).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Reach, Way};

    #[test]
    fn a_list_is_near_however_long_it_is_and_what_is_behind_other_blocks_is_not() {
        let reach = |to_image| Reach { to_image, ..Reach::NONE };
        let from = |most| Way { object: 0, variable: 0, blocks: 0, distance: 0, len: 0, reach: reach(most) };
        let end =
            |most, lens: &[usize]| lens.iter().try_fold(from(most), |way, len| way.through(*len)).map(|way| way.blocks);
        assert_eq!(end(2, &[24; 100]), Some(100));
        assert_eq!(end(2, &[24, 24, 72, 72]), Some(4));
        assert_eq!(end(2, &[24, 40, 24, 40, 24]), Some(5));
        assert_eq!(end(2, &[24, 72, 24]), None);
        assert_eq!(end(0, &[24]), None);
    }

    #[test]
    fn words_to_memory_count_less_far_than_words_to_the_image() {
        let at = |distance| {
            [Reach::OF_LIBRARY, Reach::OF_C].map(|reach| (reach.has(distance, true), reach.has(distance, false)))
        };
        assert_eq!(at(0), [(true, true), (true, true)]);
        assert_eq!(at(2), [(true, true), (true, false)]);
        assert_eq!(at(3), [(true, false), (false, false)]);
    }
}
