//! Memory between inaccessible pages, where an access beyond the end of the memory faults immediately. The crash report of a supervised
//! host then contains the label of the memory.

use std::io;

use crate::imp;

pub use crate::imp::FENCE;

/// Memory that ends at the end of a page. The pages before and after the memory are inaccessible. Any thread may use the memory.
#[derive(Debug)]
pub struct Fenced(imp::Fence);

impl Fenced {
    /// Allocates `size` zeroed bytes. If an access exceeds these bytes, the crash report of this process contains `label`. Long labels are
    /// truncated.
    ///
    /// # Errors
    /// The memory cannot be allocated, or the platform has no inaccessible pages.
    pub fn new(size: usize, label: &str) -> io::Result<Self> {
        imp::Fence::new(size, label).map(Self)
    }

    /// Returns the bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.0.bytes()
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::{FENCE, Fenced};
    use crate::process::read_memory;

    #[test]
    fn memory_ends_at_inaccessible_pages() {
        for size in [0, 1, 2, 4095, 4096, 4097, 100_000] {
            let mut fenced = Fenced::new(size, "a buffer").expect("memory");
            let bytes = fenced.bytes();
            assert_eq!((bytes.len(), bytes.iter().all(|byte| *byte == 0)), (size, true));
            bytes.fill(7);
            let (start, end) = (bytes.as_ptr().addr(), bytes.as_ptr().addr() + size);
            let is_there = |address: usize| read_memory(address, &mut [0]) == 1;
            assert!(size == 0 || is_there(end - 1));
            assert!(!is_there(end) && !is_there(end + FENCE - 1));
            assert!(!is_there((start & !4095).saturating_sub(FENCE)));
            drop(fenced);
        }
        // Allocates more fenced buffers than a crash report can list.
        let many: Vec<_> = (0..200).map(|_| Fenced::new(8, &"long ".repeat(1000)).expect("memory")).collect();
        assert_eq!(many.len(), 200);
    }
}
