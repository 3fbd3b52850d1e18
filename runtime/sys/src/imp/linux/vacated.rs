//! Where images have been of late: the next one is mapped elsewhere. Words that were left over from an image, in memory that
//! was not cleared, would look like references to whatever comes to the same place; and who calls by an address of the old
//! image ends where the report can say so, and not in code of the new.
//!
//! Each place is kept as pages without rights, which take no memory, only addresses.
#![expect(unsafe_code, reason = "maps and unmaps pages of its own")]

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::Mutex;

use super::lock;

/// So many places are kept. What is older is free again.
const MOST: usize = 64;

static KEPT: Mutex<VecDeque<Reserved>> = Mutex::new(VecDeque::new());

/// An image with these segments is gone: its place is kept, unless something else is there by now.
pub(super) fn keep(segments: &[Range<usize>]) {
    let start = segments.iter().map(|segment| segment.start / 4096 * 4096).min();
    let end = segments.iter().map(|segment| segment.end.next_multiple_of(4096)).max();
    let Some(reserved) = start.zip(end).and_then(|(start, end)| Reserved::at(start..end)) else { return };
    let mut kept = lock(&KEPT);
    if kept.len() == MOST {
        kept.pop_front();
    }
    kept.push_back(reserved);
}

/// Pages without rights, until this is dropped.
struct Reserved(Range<usize>);

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
            (given == wanted).then_some(Self(place))
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the pages are this value's, and nothing else has an address in them.
        unsafe { libc::munmap(ptr::without_provenance_mut(self.0.start), self.0.len()) };
    }
}
