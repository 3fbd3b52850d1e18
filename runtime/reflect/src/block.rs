//! Allocates memory for single values: objects of the host, and values passed by address. Tests count these allocations to detect leaks.

/// Owned, aligned, zero-initialized allocation. Dropping the block frees its memory. The owner must destroy the values in the block first.
#[derive(Debug)]
pub(crate) struct Block {
    /// Owns the allocation. Accessed only through `start`.
    _words: Vec<u64>,
    /// Address of the first aligned byte in `_words`. The address does not change.
    start: *mut u8,
}

impl Block {
    /// Allocates `size` zero bytes, aligned to `align`. A block of size zero also has an address.
    ///
    /// # Panics
    /// Panics if `align` is not a power of two or the size overflows.
    pub(crate) fn new(size: usize, align: usize) -> Self {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        // `u64` words are aligned to at least eight bytes.
        let spare = align.saturating_sub(align_of::<u64>());
        let bytes = size.checked_add(spare).expect("a value is smaller than half the address space");
        let mut words = vec![0; bytes.div_ceil(size_of::<u64>()).max(1)];
        let start = words.as_mut_ptr().cast::<u8>().map_addr(|address| (address + align - 1) & !(align - 1));
        count(1);
        Self { _words: words, start }
    }

    /// Returns the first byte. The address is valid until the block is dropped, even if the block is moved.
    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        count(-1);
    }
}

#[cfg(not(test))]
pub(super) fn count(_change: isize) {}

#[cfg(test)]
pub(super) use counting::{count, live};

#[cfg(test)]
mod counting {
    use std::cell::Cell;

    thread_local! {
        static LIVE: Cell<isize> = const { Cell::new(0) };
    }

    #[inline]
    pub(crate) fn count(change: isize) {
        LIVE.set(LIVE.get() + change);
    }

    /// Returns the number of live allocations of this thread.
    #[inline]
    pub(crate) fn live() -> isize {
        LIVE.get()
    }
}
