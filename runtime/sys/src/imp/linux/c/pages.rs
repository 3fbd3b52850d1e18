//! Pages that are reserved and touched by nobody.
#![expect(unsafe_code, reason = "asks the kernel for pages, and gives them back")]

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

/// Pages without rights, which nothing else can be mapped to until this is dropped.
pub(in crate::imp::linux) struct Reserved(Range<usize>);

impl Reserved {
    /// Reserves whole pages where nothing is mapped; `None` where something is.
    pub(in crate::imp::linux) fn at(place: Range<usize>) -> Option<Self> {
        let wanted = ptr::without_provenance_mut::<c_void>(place.start);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: the kernel gives this place only if nothing is mapped there; a kernel that does not know the flag may give
        // another, which is then given back.
        let is_taken = unsafe {
            let given = libc::mmap(wanted, place.len(), libc::PROT_NONE, flags, -1, 0);
            if given != libc::MAP_FAILED && given != wanted {
                libc::munmap(given, place.len());
            }
            given == wanted
        };
        is_taken.then_some(Self(place))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the pages were reserved by `at` for this value, which hands out no address in them.
        unsafe { libc::munmap(ptr::without_provenance_mut(self.0.start), self.0.len()) };
    }
}
