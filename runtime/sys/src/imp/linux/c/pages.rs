//! Pages that are reserved, and neither read nor written.
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
        // Not `then_some`: what is made and dropped at once would unmap what is there.
        is_taken.then(|| Self(place))
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the pages were reserved by `at` for this value, which hands out no address in them.
        unsafe { libc::munmap(ptr::without_provenance_mut(self.0.start), self.0.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::Reserved;

    #[test]
    fn a_place_that_is_taken_is_not_reserved_and_stays_mapped() {
        // An address that nothing has on this platform by itself.
        let place = 0x3000_0000_0000..0x3000_0000_2000_usize;
        let reserved = Reserved::at(place.clone()).expect("it is free");
        for _ in 0..2 {
            assert!(Reserved::at(place.clone()).is_none(), "it is taken");
        }
        drop(reserved);
        assert!(Reserved::at(place).is_some(), "it is free again");
    }
}
