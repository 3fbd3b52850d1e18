//! Memory for single values: objects of the host and values passed by address. In tests, allocations of all value memory are
//! counted to detect leaks.

/// Owned, aligned, zero-initialized allocation. Frees itself on drop; the owner must first destroy values that own memory.
#[derive(Debug)]
pub(crate) struct Block {
    /// Owner of the allocation, which is accessed only through `start`.
    _words: Vec<u64>,
    /// Points into the words, whose address is stable.
    start: *mut u8,
}

impl Block {
    /// Allocates `size` zero bytes, aligned to `align`. Empty blocks also have an address.
    ///
    /// # Panics
    /// Panics if `align` is not a power of two or the size overflows.
    pub(crate) fn new(size: usize, align: usize) -> Self {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        // Words are aligned to at least their own size.
        let spare = align.saturating_sub(align_of::<u64>());
        let bytes = size.checked_add(spare).expect("a value is smaller than half the address space");
        let mut words = vec![0; bytes.div_ceil(size_of::<u64>()).max(1)];
        let start = words.as_mut_ptr().cast::<u8>().map_addr(|address| (address + align - 1) & !(align - 1));
        count(1);
        Self { _words: words, start }
    }

    /// Returns the first byte, valid until the block is dropped, even if the block is moved.
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
