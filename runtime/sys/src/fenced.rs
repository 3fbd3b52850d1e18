//! Memory between inaccessible pages, where an access beyond the end of the memory faults immediately. The crash report of a supervised
//! host then contains the label of the memory.

pub use crate::imp::{FENCE, Fence as Fenced};

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
