//! Where images have been of late: the next one is mapped elsewhere. Words that were left over from an image, in memory that
//! was not cleared, would look like references to whatever comes to the same place; and who calls by an address of the old
//! image ends where the report can say so, and not in code of the new.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;

use super::c::pages::Reserved;
use super::lock;

/// So many places are remembered. What is older is taken again.
const MOST: usize = 64;

static VACATED: Mutex<VecDeque<Range<usize>>> = Mutex::new(VecDeque::new());

/// An image with these segments is gone.
pub(super) fn note(segments: &[Range<usize>]) {
    let start = segments.iter().map(|segment| segment.start / 4096 * 4096).min();
    let end = segments.iter().map(|segment| segment.end.next_multiple_of(4096)).max();
    let Some((start, end)) = start.zip(end) else { return };
    let mut vacated = lock(&VACATED);
    if vacated.len() == MOST {
        vacated.pop_front();
    }
    vacated.push_back(start..end);
}

/// Reserves what of these places is free, until what this gives is dropped.
pub(super) fn reserve() -> Vec<Reserved> {
    let vacated = lock(&VACATED).clone();
    vacated.into_iter().filter_map(Reserved::at).collect()
}
