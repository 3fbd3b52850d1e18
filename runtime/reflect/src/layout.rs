//! Where properties lie: the layout of a C struct, so that a module compiled elsewhere finds the same offsets.

/// Where things were placed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    /// Bytes from the start to each thing, in the order they were given.
    pub offsets: Vec<usize>,
    /// Bytes up to the end of the last thing, not padded: a derived class goes on here.
    pub end: usize,
    /// Bytes with the padding at the end, as an array of such structs would have it.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// Places things of the given sizes and alignments, in order, behind the first `base_size` bytes. Alignments are
/// powers of two.
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

#[cfg(test)]
mod tests {
    use super::{Placed, place};

    fn check(base: (usize, usize), things: &[(usize, usize)], expected: (&[usize], usize, usize, usize)) {
        let (offsets, end, size, align) = expected;
        assert_eq!(place(base.0, base.1, things), Placed { offsets: offsets.to_vec(), end, size, align });
    }

    #[test]
    fn things_lie_as_in_a_c_struct() {
        check((0, 1), &[], (&[], 0, 0, 1));
        check((0, 1), &[(1, 1), (8, 8), (1, 1)], (&[0, 8, 16], 17, 24, 8));
        check((0, 1), &[(4, 4), (2, 2), (1, 1), (1, 1)], (&[0, 4, 6, 7], 8, 8, 4));
        check((0, 1), &[(24, 8), (0, 1), (4, 4)], (&[0, 24, 24], 28, 32, 8));
    }

    #[test]
    fn a_derived_class_goes_on_where_the_base_ended() {
        check((17, 8), &[(1, 1), (4, 4)], (&[17, 20], 24, 24, 8));
        check((3, 1), &[(8, 8)], (&[8], 16, 16, 8));
    }

    #[test]
    fn rust_agrees() {
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
