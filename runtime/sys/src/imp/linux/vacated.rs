//! Where images have been of late: the next one is mapped elsewhere. Words that were left over from an image, in memory that
//! was not cleared, would look like references to whatever comes to the same place; and who calls by an address of the old
//! image ends where the report can say so, and not in code of the new.
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

/// Pages without rights where images have been, until this is dropped.
pub(super) struct Reserved(Vec<Range<usize>>);

/// Reserves what of these places is free.
pub(super) fn reserve() -> Reserved {
    let vacated = lock(&VACATED).clone();
    Reserved(vacated.into_iter().filter(is_taken).collect())
}

fn is_taken(place: &Range<usize>) -> bool {
    let wanted = ptr::without_provenance_mut::<c_void>(place.start);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: the kernel gives this place only if nothing is mapped there; a kernel that does not know the flag may give
    // another, which is then given back.
    unsafe {
        let given = libc::mmap(wanted, place.len(), libc::PROT_NONE, flags, -1, 0);
        if given != libc::MAP_FAILED && given != wanted {
            libc::munmap(given, place.len());
        }
        given == wanted
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        for place in &self.0 {
            // SAFETY: reserved by `reserve`, and nothing else has an address in it.
            unsafe { libc::munmap(ptr::without_provenance_mut(place.start), place.len()) };
        }
    }
}
