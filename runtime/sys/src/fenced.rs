//! Memory between pages that stop whoever goes beyond its end, however far: the access is a fault where it happens, and a
//! supervised host's last words say whose buffer it was.

use std::io;

use crate::imp;

pub use crate::imp::FENCE;

/// Memory whose last byte is the last of its page. What lies behind that has no rights, nor has what lies before the first page.
/// Any thread.
#[derive(Debug)]
pub struct Fenced(imp::Fence);

impl Fenced {
    /// So many bytes, zeros at first. `label` is in the last words of this process if an access goes beyond them; of a long one
    /// the end is left out.
    ///
    /// # Errors
    /// When there is no memory, or the platform has no such pages.
    pub fn new(size: usize, label: &str) -> io::Result<Self> {
        imp::Fence::new(size, label).map(Self)
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.0.bytes()
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::{FENCE, Fenced};
    use crate::process::read_memory;

    #[test]
    fn memory_ends_where_the_pages_without_rights_begin() {
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
        // More at a time than can be told of.
        let many: Vec<_> = (0..200).map(|_| Fenced::new(8, &"long ".repeat(1000)).expect("memory")).collect();
        assert_eq!(many.len(), 200);
    }
}
