//! Size classes of allocations. A class depends only on the layout, so allocation and deallocation compute the same class.

use core::alloc::Layout;

/// Length and alignment of a slab. The heap requests all memory from the host in multiples of this length.
pub(super) const SLAB: usize = 64 * 1024;

/// Size of the slab header before the first block.
pub(super) const HEAD: usize = 128;

/// Maximum alignment of blocks in slabs.
const MOST_ALIGN: usize = 4096;

/// Block sizes in slabs: steps of 16 bytes, then four sizes per doubling, and finally sizes that leave little of a slab unused.
pub(super) const SIZES: [usize; 38] = [
    16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792,
    2048, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 20480, 30720,
];

pub(super) const CLASSES: usize = SIZES.len();

const ALIGNS: [usize; CLASSES] = {
    let mut aligns = [0; CLASSES];
    let mut at = 0;
    while at < CLASSES {
        let own = 1 << SIZES[at].trailing_zeros();
        aligns[at] = if own < MOST_ALIGN { own } else { MOST_ALIGN };
        at += 1;
    }
    aligns
};

/// Kind of memory that an allocation uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Placement {
    /// Block in a slab of this class.
    Slab(usize),
    /// Separate pages of this length. Length and address are multiples of [`SLAB`].
    Pages(usize),
    /// Separate pages of this length, for a large alignment; the block starts at an offset in the pages.
    Offset(usize),
    /// The size is too large to allocate.
    Nowhere,
}

/// Returns the kind of memory for this layout.
#[inline]
pub(super) fn placement(layout: Layout) -> Placement {
    let (size, align) = (layout.size(), layout.align());
    if align <= 16 && size <= SIZES[CLASSES - 1] {
        Placement::Slab(class_of(size))
    } else {
        uncommon_placement(size, align)
    }
}

#[cold]
fn uncommon_placement(size: usize, align: usize) -> Placement {
    if align <= MOST_ALIGN
        && size.max(align) <= SIZES[CLASSES - 1]
        && let Some(class) = (class_of(size.max(align))..CLASSES).find(|class| ALIGNS[*class] >= align)
    {
        return Placement::Slab(class);
    }
    // The word before the block stores the start of the block's pages. A large alignment therefore needs one additional slab for this word.
    let (extra, kind): (usize, fn(usize) -> Placement) =
        if align <= SLAB { (0, Placement::Pages) } else { (align + SLAB, Placement::Offset) };
    size.checked_add(extra).and_then(|len| len.checked_next_multiple_of(SLAB)).map_or(Placement::Nowhere, kind)
}

/// Returns the smallest class with blocks of at least this size. The size must not exceed the largest class.
#[inline]
fn class_of(size: usize) -> usize {
    match size {
        0..=128 => size.saturating_sub(1) / 16,
        129..=20480 => {
            let last = size - 1;
            let power = last.ilog2() as usize;
            8 + (power - 7) * 4 + ((last >> (power - 2)) & 3)
        }
        _ => CLASSES - 1,
    }
}

pub(super) const fn first_block(class: usize) -> usize {
    if ALIGNS[class] > HEAD { ALIGNS[class] } else { HEAD }
}

#[cfg(test)]
mod tests {
    use core::alloc::Layout;

    use super::{ALIGNS, CLASSES, HEAD, Placement, SIZES, SLAB, class_of, first_block, placement};

    #[test]
    fn every_size_gets_the_smallest_class_that_holds_it() {
        for size in 0..=SIZES[CLASSES - 1] {
            let expected = SIZES.iter().position(|have| *have >= size).expect("up to the largest");
            assert_eq!(class_of(size), expected, "{size}");
        }
    }

    #[test]
    fn every_block_of_a_slab_is_aligned_and_ends_inside() {
        for class in 0..CLASSES {
            let (size, first) = (SIZES[class], first_block(class));
            let blocks = (SLAB - first) / size;
            assert!(first >= HEAD && blocks >= 2, "class {class} of {size} bytes: {blocks} blocks from {first}");
            for block in 0..blocks {
                let at = first + block * size;
                assert!(at.is_multiple_of(ALIGNS[class]) && at + size <= SLAB, "class {class}, block {block} at {at}");
            }
        }
    }

    #[test]
    fn every_layout_gets_a_placement_that_is_large_enough_and_aligned() {
        for align in (0..=20).map(|power| 1_usize << power) {
            for size in (0..200).chain((8..22).flat_map(|power| (1 << power) - 2..(1 << power) + 3)) {
                let layout = Layout::from_size_align(size, align).expect("small");
                match placement(layout) {
                    Placement::Slab(class) => assert!(SIZES[class] >= size && ALIGNS[class] >= align, "{layout:?}"),
                    Placement::Pages(len) => {
                        assert!(len >= size && len.is_multiple_of(SLAB) && align <= SLAB, "{layout:?}")
                    }
                    Placement::Offset(len) => {
                        assert!(len >= size + align + SLAB && len.is_multiple_of(SLAB) && align > SLAB, "{layout:?}");
                    }
                    Placement::Nowhere => panic!("{layout:?} has a place"),
                }
            }
        }
        let most = Layout::from_size_align(isize::MAX as usize - 4095, 4096).expect("the largest there is");
        assert_eq!(placement(most), Placement::Pages((isize::MAX as usize - 4095).next_multiple_of(SLAB)));
    }
}
