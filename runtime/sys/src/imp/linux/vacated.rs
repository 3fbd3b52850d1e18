//! Room for the next image: where no mapping has been. Words that were left over in memory that was not cleared, from an image, a
//! thread's stack or a block, would look like references to an image that comes to the place they lead to; and a call by an address of
//! an old image ends where the report can say so, and not in code of the new.
//!
//! Places are reserved while the loader looks for room, and not for good: a tool that lets something else come there finds out what a
//! plugin writes after its end.

use std::ops::Range;
use std::sync::Mutex;

use super::c::pages::Reserved;
use super::lock;
use super::strays::{self, Mapped, PAGE};

/// A wider gap is no room between mappings: allocators and sanitizers have their own areas far away.
const WIDEST: usize = 1 << 34;

/// No image is smaller than so many pages.
const SMALLEST: usize = 4 * PAGE;

/// The addresses that mappings have occupied so far, in the area where the loader maps images.
static OCCUPIED: Mutex<Range<usize>> = Mutex::new(0..0);

/// Remembers the place of an image that is gone.
pub(super) fn note(segments: &[Range<usize>]) {
    let mut occupied = lock(&OCCUPIED);
    segments.iter().for_each(|segment| *occupied = hull(&occupied, segment));
}

/// Reserves each free place where a mapping may have been, until the result is dropped.
pub(super) fn reserve() -> Vec<Reserved> {
    let mapped = strays::list().unwrap_or_default();
    let below_stack = mapped.split(|mapped| mapped.is_main_stack).next().unwrap_or_default();
    let ranges: Vec<_> = below_stack.iter().map(|Mapped { range, .. }| range.clone()).collect();
    let mut occupied = lock(&OCCUPIED);
    let anchor = (libc::mmap as *const ()).addr();
    let (area, gaps) = gaps(&ranges, anchor, &occupied);
    *occupied = area;
    drop(occupied);
    gaps.into_iter().filter_map(Reserved::at).collect()
}

/// Returns the area around `anchor` in which mappings are close to each other, widened by `occupied`, and the gaps in it. `mapped` is
/// sorted.
fn gaps(mapped: &[Range<usize>], anchor: usize, occupied: &Range<usize>) -> (Range<usize>, Vec<Range<usize>>) {
    let is_close = |lower: &Range<usize>, upper: &Range<usize>| upper.start.saturating_sub(lower.end) < WIDEST;
    let Some(near) = mapped.chunk_by(is_close).find(|row| row.iter().any(|range| range.contains(&anchor))) else {
        return (occupied.clone(), Vec::new());
    };
    let area = near.iter().fold(occupied.clone(), |area, range| hull(&area, range));
    let ends = std::iter::once(area.start).chain(near.iter().map(|range| range.end));
    let starts = near.iter().map(|range| range.start).chain([area.end]);
    let gaps = ends.zip(starts).map(|(end, start)| end..start);
    let gaps = gaps.filter(|gap| gap.end.saturating_sub(gap.start) >= SMALLEST).collect();
    (area, gaps)
}

/// Returns the range from the lower start to the higher end, in whole pages.
fn hull(area: &Range<usize>, range: &Range<usize>) -> Range<usize> {
    let pages = range.start / PAGE * PAGE..range.end.next_multiple_of(PAGE);
    if area.is_empty() { pages } else { area.start.min(pages.start)..area.end.max(pages.end) }
}

#[cfg(test)]
mod tests {
    use super::{PAGE, WIDEST, gaps};
    use std::ops::Range;

    const BASE: usize = 0x7f00_0000_0000;

    fn pages(range: Range<usize>) -> Range<usize> {
        BASE + range.start * PAGE..BASE + range.end * PAGE
    }

    #[test]
    fn gaps_between_close_mappings_are_found_and_those_of_other_areas_are_not() {
        let far = BASE - 2 * WIDEST..BASE - 2 * WIDEST + PAGE;
        let mapped = [far, pages(100..110), pages(112..120), pages(150..160)];
        let (area, found) = gaps(&mapped, BASE + 113 * PAGE, &(0..0));
        assert_eq!((area, found), (pages(100..160), vec![pages(120..150)]));
    }

    #[test]
    fn places_of_mappings_that_are_gone_are_gaps() {
        let mapped = [pages(100..110)];
        let (area, found) = gaps(&mapped, BASE + 100 * PAGE, &pages(50..120));
        assert_eq!((area, found), (pages(50..120), vec![pages(50..100), pages(110..120)]));
    }

    #[test]
    fn without_a_list_of_mappings_no_place_is_reserved() {
        assert_eq!(gaps(&[], BASE, &pages(50..120)), (pages(50..120), vec![]));
    }
}
