//! Memory for values that are alone: what objects of the host and values by address lie in. It is counted, as all memory for
//! values is, so that tests can tell what is left.

/// An owned, aligned allocation that starts as zeros. It frees itself; values in it that own memory must have been
/// destroyed before.
#[derive(Debug)]
pub(crate) struct Block {
    /// Never looked at: what is in it is written by its address.
    _words: Vec<u64>,
    /// In the words, which stay where they are.
    start: *mut u8,
}

impl Block {
    /// `size` bytes of zeros, aligned to `align`. Empty blocks have an address too.
    ///
    /// # Panics
    /// When `align` is no power of two or the size overflows.
    pub(crate) fn new(size: usize, align: usize) -> Self {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        // Words are aligned to their own size at least.
        let spare = align.saturating_sub(align_of::<u64>());
        let bytes = size.checked_add(spare).expect("a value is smaller than half the address space");
        let mut words = vec![0; bytes.div_ceil(size_of::<u64>()).max(1)];
        let start = words.as_mut_ptr().cast::<u8>().map_addr(|address| (address + align - 1) & !(align - 1));
        count(1);
        Self { _words: words, start }
    }

    /// The first byte. Valid until the block is dropped, wherever the block itself is moved.
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

    /// One more, or one less.
    #[inline]
    pub(crate) fn count(change: isize) {
        LIVE.set(LIVE.get() + change);
    }

    /// Allocations of this thread that were not given back.
    #[inline]
    pub(crate) fn live() -> isize {
        LIVE.get()
    }
}
