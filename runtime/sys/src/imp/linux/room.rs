//! Room for the next image, in an area where nothing else is mapped and no image has been. Words that were left over in memory that was
//! not cleared, from an image, a thread's stack or a block, would look like references to an image at the place they lead to; and a call
//! by an address of an old image ends where the report can say so, and not in code of the new.
//!
//! All places above are reserved while the loader looks for room, and not for good: a tool that lets something else come there finds out
//! what a plugin writes after its end.

use std::ops::Range;
use std::sync::Mutex;

use super::c::loader;
use super::c::pages::Reserved;
use super::lock;
use super::proc::Maps;

const PAGE: usize = 4096;

/// From the mappings of the process to the first image. The system maps from the top down, so what others map stays above.
const DISTANCE: usize = 1 << 40;

/// A wider gap separates areas: allocators and sanitizers have their own, far away.
const WIDEST: usize = 1 << 34;

/// No image is smaller.
const SMALLEST: usize = 4 * PAGE;

/// The page above the room for the next image; 0 before the first. No address: that would look like a reference.
static NEXT: Mutex<usize> = Mutex::new(0);

/// The room for one image.
pub(super) struct Room {
    _reserved: Vec<Reserved>,
    end: usize,
}

impl Room {
    /// Reserves the places above the room. If the system lists no mappings or forbids to reserve, an image is mapped anywhere.
    pub(super) fn find() -> Self {
        // Below the stack of the program's first thread, which may grow.
        let maps = Maps::read_short();
        let all = maps.iter().flat_map(Maps::all).take_while(|mapped| mapped.name != b"[stack]");
        let mapped: Vec<_> = all.map(|mapped| mapped.range).collect();
        // Below what came there since the last image.
        let next = lowest(&mapped, *lock(&NEXT) * PAGE);
        let (end, gaps) = search(&mapped, (libc::mmap as *const ()).addr(), next);
        Self { _reserved: gaps.into_iter().filter_map(Reserved::at).collect(), end }
    }

    /// Ends the search. The next image comes below all that the loader has mapped in this room.
    pub(super) fn close(self) {
        let mut mapped = Vec::new();
        loader::walk(|listed| {
            mapped.extend(listed.segments());
            false
        });
        mapped.sort_by_key(|segment| segment.start);
        *lock(&NEXT) = lowest(&mapped, self.end) / PAGE;
    }
}

/// Returns the end of the room, which is `next` if there is enough below it, and the gaps between it and the mappings around `anchor`.
fn search(mapped: &[Range<usize>], anchor: usize, next: usize) -> (usize, Vec<Range<usize>>) {
    let is_close = |lower: &Range<usize>, upper: &Range<usize>| upper.start.saturating_sub(lower.end) < WIDEST;
    let area = mapped.chunk_by(is_close).find(|row| row.iter().any(|range| range.contains(&anchor)));
    let Some((first, last)) = area.and_then(|row| row.first().zip(row.last())) else { return (0, Vec::new()) };
    let below = |end: usize| mapped.iter().rev().find(|range| range.end <= end).map_or(0, |range| range.end);
    let has_room = next != 0 && next < first.start && next - below(next) >= WIDEST;
    let end = if has_room { next } else { first.start.saturating_sub(DISTANCE) };
    let within = || mapped.iter().filter(|range| range.end > end && range.end <= last.end);
    let ends = std::iter::once(end).chain(within().map(|range| range.end));
    let gaps = ends.zip(within().map(|range| range.start)).map(|(end, start)| end..start);
    (end, gaps.filter(|gap| gap.end.saturating_sub(gap.start) >= SMALLEST).collect())
}

/// Returns the start of the lowest mapping in the area that ends at `end`, or `end`.
fn lowest(mapped: &[Range<usize>], end: usize) -> usize {
    let below = mapped.iter().rev().filter(|range| range.end <= end);
    below.fold(end, |lowest, range| if lowest - range.end < WIDEST { range.start } else { lowest })
}

#[cfg(test)]
mod tests {
    use super::{DISTANCE, PAGE, WIDEST, lowest, search};
    use std::ops::Range;

    const BASE: usize = 0x7f00_0000_0000;

    fn pages(range: Range<usize>) -> Range<usize> {
        BASE + range.start * PAGE..BASE + range.end * PAGE
    }

    #[test]
    fn the_first_room_ends_far_below_the_mappings_around_the_c_library() {
        let heap = 0x5500_0000_0000..0x5500_0010_0000;
        let mapped = [heap.clone(), pages(100..110), pages(112..120), pages(150..160)];
        let end = BASE + 100 * PAGE - DISTANCE;
        let (found, gaps) = search(&mapped, BASE + 113 * PAGE, 0);
        assert_eq!((found, gaps), (end, vec![end..BASE + 100 * PAGE, pages(120..150)]));
        assert_eq!(lowest(&mapped, end), end);
        let image = end - 20 * PAGE..end - 5 * PAGE;
        assert_eq!(lowest(&[heap, image.clone(), pages(100..110)], end), image.start);
    }

    #[test]
    fn the_next_room_is_below_the_last_one_even_if_that_is_free_again() {
        let mapped = [pages(100..110), pages(120..130)];
        let next = BASE + 100 * PAGE - DISTANCE - 20 * PAGE;
        let gaps = vec![next..BASE + 100 * PAGE, pages(110..120)];
        assert_eq!(search(&mapped, BASE + 100 * PAGE, next), (next, gaps));
    }

    #[test]
    fn a_room_that_is_used_up_begins_again_at_the_top() {
        let mapped = [BASE - DISTANCE - 2 * WIDEST..BASE - DISTANCE - 2 * WIDEST + PAGE, pages(100..110)];
        let (end, _) = search(&mapped, BASE + 100 * PAGE, BASE - DISTANCE - WIDEST - WIDEST / 2);
        assert_eq!(end, BASE + 100 * PAGE - DISTANCE);
    }

    #[test]
    fn without_a_list_of_mappings_no_place_is_reserved() {
        assert_eq!(search(&[], BASE, BASE), (0, vec![]));
    }
}
