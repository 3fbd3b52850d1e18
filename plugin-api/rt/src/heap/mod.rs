//! The module's own heap. What a module allocates lies in pages that go with its image, so nothing it forgot stays
//! behind; and no block of it is ever in the host's heap, whoever frees it.
//!
//! Nothing has to be set up first: an initialiser that runs while the module is mapped may allocate, and so may the
//! last finaliser. There are no heads before the blocks: whoever frees says the layout.
#![expect(unsafe_code, reason = "an allocator")]

mod classes;
mod pages;
mod shard;
mod slab;

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use classes::{BlockPlace, SLAB, place};

/// The allocator of a module: `module!` makes it the global one, unless it is told `allocator: own`. Any thread.
#[derive(Clone, Copy, Default, Debug)]
pub struct ModuleHeap;

/// Bytes that the module has allocated and not freed. While other threads allocate, the answer is a little off.
#[must_use]
pub fn live_bytes() -> u64 {
    shard::live_bytes()
}

// SAFETY: blocks are disjoint, as large and as aligned as their layout says, and stay in place until they are freed:
// `place` says the same for the same layout each time.
unsafe impl GlobalAlloc for ModuleHeap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match place(layout) {
            BlockPlace::Slab(class) => shard::allocate(class, layout.size()).map_or(null_mut(), NonNull::as_ptr),
            place => pages_for(place, layout).map_or(null_mut(), |(block, _)| block.as_ptr()),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller of `dealloc` passes what `alloc` gave it for this layout, which was not null and so is of this
        // place, and does not use it any more.
        unsafe {
            let block = NonNull::new_unchecked(block);
            match place(layout) {
                BlockPlace::Slab(_) => shard::free(block, layout.size()),
                place => give_pages(place, block, layout),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (block, is_zero) = match place(layout) {
            BlockPlace::Slab(class) => (shard::allocate(class, layout.size()), false),
            place => pages_for(place, layout).map_or((None, false), |(block, is_zero)| (Some(block), is_zero)),
        };
        let Some(block) = block else { return null_mut() };
        if !is_zero {
            // SAFETY: the block was allocated with this layout just now.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block.as_ptr()
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller of `realloc` passes a size that makes a layout with the same alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if place(layout) == place(new_layout) {
            shard::count_elsewhere(new_size as i64 - layout.size() as i64);
            return block;
        }
        // SAFETY: the caller of `realloc` passes a size that is not zero, and a block that was allocated with this layout. Both
        // blocks are at least as long as the shorter of the two; the old one is given back when its content has moved.
        unsafe {
            let new = self.alloc(new_layout);
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// Pages of its own for an allocation, and whether they are known to be zero.
#[cold]
fn pages_for(place: BlockPlace, layout: Layout) -> Option<(NonNull<u8>, bool)> {
    let taken = match place {
        BlockPlace::Pages(len) => pages::take_pages(len)?,
        BlockPlace::Offset(len) => {
            let (memory, is_zero) = pages::take_pages(len)?;
            let offset = (memory.addr().get() + SLAB).next_multiple_of(layout.align()) - memory.addr().get();
            // SAFETY: `place` made room for the alignment and for one slab before the block, so that the word before the block
            // lies in the pages, too. Pages and blocks are aligned for a word.
            let block = unsafe {
                let block = memory.add(offset);
                block.cast::<NonNull<u8>>().sub(1).write(memory);
                block
            };
            (block, is_zero)
        }
        BlockPlace::Slab(_) | BlockPlace::Nowhere => return None,
    };
    shard::count_elsewhere(layout.size() as i64);
    Some(taken)
}

/// Gives pages back.
///
/// # Safety
/// They are from [`pages_for`] with the same place and layout, and nobody uses them any more.
#[cold]
unsafe fn give_pages(place: BlockPlace, block: NonNull<u8>, layout: Layout) {
    let (memory, len) = match place {
        BlockPlace::Pages(len) => (block, len),
        BlockPlace::Offset(len) => {
            // SAFETY: `pages_for` left room for a word before the block, and wrote there where the pages begin.
            (unsafe { block.cast::<NonNull<u8>>().sub(1).read() }, len)
        }
        BlockPlace::Slab(_) | BlockPlace::Nowhere => return,
    };
    shard::count_elsewhere(-(layout.size() as i64));
    // SAFETY: `pages_for` took them with this length; promised by our caller.
    unsafe { pages::give_pages(memory, len) }
}
