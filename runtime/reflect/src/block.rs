//! Memory from the system for values: what objects, containers and texts lie in. All of it comes from here and goes back
//! here, so that tests can count what is left.
#![expect(unsafe_code, reason = "takes memory from the system and gives it back")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// An owned, aligned allocation that starts as zeros. It frees itself; values in it that own memory must have been
/// destroyed before.
#[derive(Debug)]
pub(crate) struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

impl Block {
    /// `size` bytes of zeros, aligned to `align`. Empty blocks have an address too.
    ///
    /// # Panics
    /// When `align` is no power of two or the size overflows.
    pub(crate) fn new(size: usize, align: usize) -> Self {
        let layout = Layout::from_size_align(size.max(1), align).expect("an alignment is a power of two");
        // SAFETY: the layout has at least one byte, said two lines above.
        let start = unsafe { alloc_zeroed(layout) };
        count(1);
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }

    /// The first byte. Valid until the block is dropped, wherever the block itself is moved.
    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        count(-1);
        // SAFETY: `new` allocated it with this layout, and nothing else frees it.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Bytes for values, not written yet; `None` when the system has no more.
pub(super) fn take(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the layout has at least one byte.
    let start = NonNull::new(unsafe { alloc(at_least_one(layout)) });
    count(isize::from(start.is_some() as i8));
    start
}

/// Gives bytes back.
///
/// # Safety
/// `start` came from [`take`] with this layout, and is not used any more.
pub(super) unsafe fn give_back(start: *mut u8, layout: Layout) {
    count(-1);
    // SAFETY: promised by the caller.
    unsafe { dealloc(start, at_least_one(layout)) };
}

/// Rows of a struct without fields have no bytes, but a row has an address.
fn at_least_one(layout: Layout) -> Layout {
    if layout.size() == 0 { Layout::from_size_align(1, layout.align()).unwrap_or(Layout::new::<u8>()) } else { layout }
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
