//! Where images have been of late: the next one is mapped elsewhere. Words that were left over from an image, in memory that
//! was not cleared, would look like references to whatever comes to the same place; and who calls by an address of the old
//! image ends where the report can say so, and not in code of the new.
//!
//! The places are reserved while the loader looks for room, and not for good: a tool that lets something else come there finds
//! out what a plugin writes after its end.
#![expect(unsafe_code, reason = "reserves pages while the loader looks for room")]

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::Mutex;

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

/// Reserves what of these places is free, until the result is dropped.
pub(super) fn reserve() -> Vec<Reserved> {
    let mut places: Vec<_> = lock(&VACATED).iter().cloned().collect();
    places.sort_unstable_by_key(|place| place.start);
    let mut reserved = Vec::new();
    for row in places.chunk_by(|place, next| next.start <= place.end) {
        let end = row.iter().map(|place| place.end).max().unwrap_or_default();
        // Images come to lie side by side, so most places are reserved by one call. What is free of a row that is not free as a
        // whole is reserved place by place.
        match Reserved::at(row[0].start..end) {
            Some(whole) => reserved.push(whole),
            None if row.len() > 1 => reserved.extend(row.iter().cloned().filter_map(Reserved::at)),
            None => {}
        }
    }
    reserved
}

/// Pages without rights, until this is dropped.
pub(super) struct Reserved(Range<usize>);

impl Reserved {
    fn at(place: Range<usize>) -> Option<Self> {
        let wanted = ptr::without_provenance_mut::<c_void>(place.start);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: the kernel gives this place only if nothing is mapped there; a kernel that does not know the flag may give
        // another, which is then given back.
        unsafe {
            let given = libc::mmap(wanted, place.len(), libc::PROT_NONE, flags, -1, 0);
            if given != libc::MAP_FAILED && given != wanted {
                libc::munmap(given, place.len());
            }
            // Not `then_some`: what is made and dropped at once would unmap what is there.
            (given == wanted).then(|| Self(place))
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the pages are this value's, and nothing else has an address in them.
        unsafe { libc::munmap(ptr::without_provenance_mut(self.0.start), self.0.len()) };
    }
}
