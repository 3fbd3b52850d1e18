//! Tests of the module heap under load. Blocks are aligned, do not overlap, and retain their content on any thread until they are freed. At
//! the end, the byte count is correct.
#![cfg(all(target_os = "linux", target_env = "gnu", not(feature = "pass-through")))]
#![expect(unsafe_code, reason = "calls an allocator directly")]

use std::alloc::{GlobalAlloc, Layout};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};

use alcedo_rt::{ModuleHeap, live_bytes};

/// Lock for the global byte count, so that tests that read the count run one after another.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Generator of deterministic pseudorandom numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Returns a size of up to half a megabyte and an alignment of up to 128 KiB. Small sizes and alignments are more
    /// frequent.
    fn layout(&mut self) -> Layout {
        let power = if self.below(32) == 0 { 19 } else { self.below(13) };
        let size = 1 + self.below(1 << power);
        let align = match self.below(8) {
            0 => 1 << self.below(18),
            1 => 1 << self.below(9),
            _ => 1 << self.below(5),
        };
        Layout::from_size_align(size as usize, align).expect("both are small")
    }
}

/// Block filled with a byte that identifies the block.
struct Block {
    address: *mut u8,
    layout: Layout,
    fill: u8,
}

// SAFETY: only the owner of the value uses the block, and the heap may be called on any thread.
unsafe impl Send for Block {}

/// Returns true if all bytes are equal to `byte`. Compares each byte with the next byte, by one comparison of slices, which is fast also in
/// debug builds.
fn is_filled(bytes: &[u8], byte: u8) -> bool {
    bytes.split_first().is_none_or(|(first, rest)| *first == byte && *rest == bytes[..rest.len()])
}

impl Block {
    fn new(layout: Layout, fill: u8, is_zeroed: bool) -> Self {
        let address = match is_zeroed {
            // SAFETY: no layout in this test is empty.
            true => unsafe { ModuleHeap.alloc_zeroed(layout) },
            // SAFETY: no layout in this test is empty.
            false => unsafe { ModuleHeap.alloc(layout) },
        };
        assert!(!address.is_null(), "{layout:?}");
        assert_eq!(address.addr() % layout.align(), 0, "{layout:?} at {address:?}");
        let mut block = Self { address, layout, fill };
        if is_zeroed {
            assert!(is_filled(block.bytes(), 0), "{layout:?} is not zero");
        }
        block.bytes().fill(fill);
        block
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block has this length, all its bytes were written, and only this value uses it.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.layout.size()) }
    }

    fn check(&mut self) {
        let (fill, layout) = (self.fill, self.layout);
        assert!(is_filled(self.bytes(), fill), "{layout:?}: other code wrote to the block");
    }

    fn resize(&mut self, size: usize) {
        self.check();
        let kept = size.min(self.layout.size());
        // SAFETY: the block was allocated with this layout, and the new size is not zero.
        self.address = unsafe { ModuleHeap.realloc(self.address, self.layout, size) };
        assert!(!self.address.is_null());
        self.layout = Layout::from_size_align(size, self.layout.align()).expect("both are small");
        assert_eq!(self.address.addr() % self.layout.align(), 0, "{:?}", self.layout);
        let fill = self.fill;
        // SAFETY: at least `kept` bytes were written before, and `realloc` keeps their content.
        let old = unsafe { std::slice::from_raw_parts(self.address, kept) };
        assert!(is_filled(old, fill), "{:?}: realloc lost bytes", self.layout);
        // SAFETY: the block has `size` bytes, and only this value uses the block.
        unsafe { self.address.write_bytes(fill, size) };
    }

    fn free(mut self) {
        self.check();
        // SAFETY: the block was allocated with this layout, and is not used afterwards.
        unsafe { ModuleHeap.dealloc(self.address, self.layout) };
    }
}

/// Allocates, resizes and frees blocks at random. Sends some blocks to the next thread, and frees all other blocks at the end.
fn play(seed: u64, steps: u32, elsewhere: Option<(&Sender<Block>, &Receiver<Block>)>) {
    let mut dice = Dice(seed);
    let mut blocks = Vec::new();
    for step in 0..steps {
        match dice.below(8) {
            0..4 => blocks.push(Block::new(dice.layout(), step as u8, dice.below(4) == 0)),
            4 if !blocks.is_empty() => {
                let at = dice.below(blocks.len() as u64) as usize;
                blocks[at].resize(dice.layout().size());
            }
            _ if blocks.is_empty() => {}
            choice => {
                let at = dice.below(blocks.len() as u64) as usize;
                let block = blocks.swap_remove(at);
                match elsewhere {
                    Some((there, _)) if choice == 5 => there.send(block).expect("the others are still there"),
                    _ => block.free(),
                }
            }
        }
        if let Some((_, here)) = elsewhere {
            here.try_iter().take(4).for_each(Block::free);
        }
    }
    blocks.into_iter().for_each(Block::free);
}

#[test]
fn blocks_of_every_layout_are_aligned_disjoint_and_keep_their_content() {
    let _alone = alone();
    let before = live_bytes();
    for seed in 0..20 {
        play(seed, 4000, None);
    }
    assert_eq!(live_bytes(), before);
}

#[test]
fn every_alignment_works_with_every_size() {
    let _alone = alone();
    for align in (0..=18).map(|power| 1_usize << power) {
        let sizes = (1..=64).chain((6..=17).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]));
        let layouts = sizes.map(|size| Layout::from_size_align(size, align).expect("both are small"));
        let blocks: Vec<_> = layouts.zip(0_u8..).map(|(layout, fill)| Block::new(layout, fill, false)).collect();
        let mut ranges = BTreeMap::new();
        for block in &blocks {
            ranges.insert(block.address.addr(), block.layout.size());
        }
        let starts: Vec<_> = ranges.iter().collect();
        for pair in starts.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= *pair[1].0, "align {align}: {pair:?} overlap");
        }
        blocks.into_iter().for_each(Block::free);
    }
}

#[test]
fn threads_free_what_others_allocated() {
    let _alone = alone();
    let before = live_bytes();
    const THREADS: usize = 8;
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| channel()).unzip();
    let all_done = Arc::new(Barrier::new(THREADS));
    std::thread::scope(|scope| {
        for (at, here) in receivers.into_iter().enumerate() {
            // Each thread receives blocks of the previous thread.
            let there = senders[(at + 1) % THREADS].clone();
            let all_done = Arc::clone(&all_done);
            scope.spawn(move || {
                play(at as u64 + 100, 10_000, Some((&there, &here)));
                all_done.wait();
                drop(there);
                here.try_iter().for_each(Block::free);
            });
        }
        drop(senders);
    });
    assert_eq!(live_bytes(), before);
}

#[test]
fn more_threads_than_there_are_shards_still_find_memory() {
    let _alone = alone();
    let before = live_bytes();
    for round in 0..3 {
        let together = Barrier::new(100);
        std::thread::scope(|scope| {
            for at in 0..100 {
                let together = &together;
                scope.spawn(move || {
                    // All threads of a round are alive at the same time, so their thread pointers differ.
                    together.wait();
                    play(1000 * round + at, 500, None);
                    together.wait();
                });
            }
        });
    }
    assert_eq!(live_bytes(), before);
}

#[test]
fn freed_memory_is_reused() {
    let _alone = alone();
    let layout = Layout::from_size_align(64, 8).expect("a layout");
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1000 {
        let blocks: Vec<_> = (0..10).map(|fill| Block::new(layout, fill, false)).collect();
        seen.extend(blocks.iter().map(|block| block.address.addr() & !0xFFFF));
        blocks.into_iter().for_each(Block::free);
    }
    // The blocks extend into a second slab if earlier tests have left the first slab nearly full.
    assert!(seen.len() <= 2, "{} slabs for ten blocks", seen.len());
}

#[test]
fn the_count_of_bytes_is_that_of_the_layouts() {
    let _alone = alone();
    let before = live_bytes();
    let sizes = [1, 64, 1000, 30_000, 100_000];
    let mut blocks: Vec<_> =
        sizes.map(|size| Block::new(Layout::from_size_align(size, 8).expect("a layout"), 7, false)).into();
    assert_eq!(live_bytes() - before, sizes.iter().sum::<usize>() as u64);
    blocks[1].resize(60); // in place
    blocks[4].resize(200_000);
    assert_eq!(live_bytes() - before, (1 + 60 + 1000 + 30_000 + 200_000) as u64);
    blocks.into_iter().for_each(Block::free);
    assert_eq!(live_bytes(), before);
}
