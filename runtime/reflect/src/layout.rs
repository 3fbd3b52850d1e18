//! Layout of properties. Structs and function parameters have C struct layout, because host and modules compute their layouts
//! independently. Class properties are packed, because only the host computes the layouts of objects, and passes the offsets to modules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Result of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    /// Offset of each field in bytes, in input order.
    pub offsets: Vec<usize>,
    /// End of the last field in bytes, without padding. Properties of a derived class start at this offset.
    pub end: usize,
    /// Size in bytes, padded to a multiple of the alignment.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// Assigns offsets to fields in order, after the first `base_size` bytes. `things` contains the size and alignment of each field.
/// Alignments are powers of two.
pub(crate) fn place(base_size: usize, base_align: usize, things: &[(usize, usize)]) -> Placed {
    let (mut end, mut align) = (base_size, base_align.max(1));
    let mut offsets = Vec::with_capacity(things.len());
    for &(thing_size, thing_align) in things {
        let offset = end.next_multiple_of(thing_align);
        offsets.push(offset);
        end = offset + thing_size;
        align = align.max(thing_align);
    }
    Placed { offsets, end, size: end.next_multiple_of(align), align }
}

/// Variant of [`place`] that reorders the fields to reduce gaps. Repeatedly selects the field with the lowest possible offset. Of several
/// such fields, selects the field with the largest alignment. Small fields are therefore usually last, next to the fields of a derived
/// class. If the layout in input order is shorter, returns that layout. The returned offsets are in input order.
pub(crate) fn place_closely(base_size: usize, base_align: usize, things: &[(usize, usize)]) -> Placed {
    let mut waiting: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
    for (at, (_, align)) in things.iter().enumerate() {
        waiting.entry(*align).or_default().push_back(at);
    }
    let mut order = Vec::with_capacity(things.len());
    let mut end = base_size;
    let nearest = |waiting: &BTreeMap<usize, _>, end: usize| {
        waiting.keys().copied().min_by_key(|align| (end.next_multiple_of(*align), Reverse(*align)))
    };
    while let Some(align) = nearest(&waiting, end) {
        match waiting.get_mut(&align).and_then(VecDeque::pop_front) {
            Some(at) => {
                end = end.next_multiple_of(align) + things[at].0;
                order.push(at);
            }
            None => drop(waiting.remove(&align)),
        }
    }
    let ordered: Vec<_> = order.iter().map(|at| things[*at]).collect();
    let placed = place(base_size, base_align, &ordered);
    let mut offsets = vec![0; things.len()];
    order.iter().zip(&placed.offsets).for_each(|(at, offset)| offsets[*at] = *offset);
    let in_order = place(base_size, base_align, things);
    if in_order.end < placed.end { in_order } else { Placed { offsets, ..placed } }
}

#[cfg(test)]
mod tests {
    use super::{Placed, place, place_closely};

    fn check(base: (usize, usize), things: &[(usize, usize)], expected: (&[usize], usize, usize, usize)) {
        let (offsets, end, size, align) = expected;
        assert_eq!(place(base.0, base.1, things), Placed { offsets: offsets.to_vec(), end, size, align });
    }

    #[test]
    fn fields_have_c_layout() {
        check((0, 1), &[], (&[], 0, 0, 1));
        check((0, 1), &[(1, 1), (8, 8), (1, 1)], (&[0, 8, 16], 17, 24, 8));
        check((0, 1), &[(4, 4), (2, 2), (1, 1), (1, 1)], (&[0, 4, 6, 7], 8, 8, 4));
        check((0, 1), &[(24, 8), (0, 1), (4, 4)], (&[0, 24, 24], 28, 32, 8));
    }

    #[test]
    fn a_derived_class_continues_at_the_end_of_its_base() {
        check((17, 8), &[(1, 1), (4, 4)], (&[17, 20], 24, 24, 8));
        check((3, 1), &[(8, 8)], (&[8], 16, 16, 8));
    }

    #[test]
    fn properties_of_a_class_leave_no_gap_that_another_could_fill() {
        let close = |base, align, things: &[(usize, usize)]| {
            let Placed { offsets, end, size, align } = place_closely(base, align, things);
            (offsets, end, size, align)
        };
        assert_eq!(close(0, 1, &[]), (vec![], 0, 0, 1));
        // A flag before and a flag after a double: 10 bytes instead of 17.
        assert_eq!(close(0, 1, &[(1, 1), (8, 8), (1, 1)]), (vec![8, 0, 9], 10, 16, 8));
        // Fields of equal alignment keep their order.
        assert_eq!(close(0, 1, &[(4, 4), (8, 8), (4, 4), (24, 8)]), (vec![32, 0, 36, 8], 40, 40, 8));
        // Padding of the base is filled first.
        assert_eq!(close(17, 8, &[(8, 8), (1, 1), (4, 4), (2, 2)]), (vec![24, 17, 20, 18], 32, 32, 8));
        assert_eq!(close(6, 4, &[(8, 8), (0, 1)]), (vec![8, 6], 16, 16, 8));
    }

    #[test]
    fn fields_do_not_overlap_and_sorting_never_enlarges_the_layout() {
        let mut seed = 7_u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % sides
        };
        for _ in 0..2000 {
            let things: Vec<(usize, usize)> = (0..roll(9))
                .map(|_| {
                    let align = 1 << roll(5);
                    (align * roll(4) as usize, align)
                })
                .collect();
            let base = roll(40) as usize;
            let placed = place_closely(base, 8, &things);
            let mut spans: Vec<_> =
                placed.offsets.iter().zip(&things).map(|(at, (size, _))| (*at, at + size)).collect();
            for ((at, end), (_, align)) in spans.iter().zip(&things) {
                assert!(at.is_multiple_of(*align) && *at >= base && *end <= placed.end, "{things:?} {placed:?}");
            }
            spans.retain(|(at, end)| at < end);
            spans.sort_unstable();
            assert!(spans.is_sorted_by(|one, next| one.1 <= next.0), "{things:?} {placed:?}");
            assert!(placed.end <= place(base, 8, &things).end, "{things:?} {placed:?}");
        }
    }

    #[test]
    fn the_layout_agrees_with_rust() {
        #[repr(C)]
        struct Mixed {
            a: u8,
            b: u64,
            c: u16,
            d: u32,
            e: u8,
        }
        let placed = place(0, 1, &[(1, 1), (8, 8), (2, 2), (4, 4), (1, 1)]);
        assert_eq!((placed.size, placed.align), (size_of::<Mixed>(), align_of::<Mixed>()));
        let rust = [
            std::mem::offset_of!(Mixed, a),
            std::mem::offset_of!(Mixed, b),
            std::mem::offset_of!(Mixed, c),
            std::mem::offset_of!(Mixed, d),
            std::mem::offset_of!(Mixed, e),
        ];
        assert_eq!(placed.offsets, rust);
    }
}
