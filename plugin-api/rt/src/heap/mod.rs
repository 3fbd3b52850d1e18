//! The module's heap. The host frees the pages of this heap when it unmaps the image, including memory that the module leaked. The module
//! allocates no blocks from the heap of the host.
//!
//! The heap needs no initialization. Therefore initializers may allocate while the module is being mapped, and the last finalizer of the
//! library may also allocate. Blocks have no headers, because the caller of `dealloc` passes the layout.
#![expect(unsafe_code, reason = "an allocator")]

mod classes;
mod memory;
mod pages;
mod shard;

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use classes::{Placement, SLAB, placement};
use memory::{Free, Pages};

/// Allocator of a module. `module!` makes this type the global allocator, unless `allocator: own` is specified. Callable on any thread.
#[derive(Clone, Copy, Default, Debug)]
pub struct ModuleHeap;

/// Returns the number of bytes that the module has allocated but not freed. The number is approximate while other threads allocate.
#[must_use]
pub fn live_bytes() -> u64 {
    shard::live_bytes()
}

// SAFETY: blocks are disjoint, have the size and alignment of their layout, and do not move until they are freed.
// `placement` returns the same result for the same layout.
unsafe impl GlobalAlloc for ModuleHeap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match placement(layout) {
            Placement::Slab(class) => match shard::allocate(class, layout.size()) {
                Some(block) => block.into_memory().as_ptr(),
                None => null_mut(),
            },
            placement => pages_for(placement, layout).map_or(null_mut(), |(block, _)| block.as_ptr()),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller of `dealloc` passes a block that `alloc` returned for this layout, and does not use the block any more.
        // The block is not null, and its kind follows from the layout.
        unsafe {
            let block = NonNull::new_unchecked(block);
            match placement(layout) {
                Placement::Slab(_) => shard::free(Free::from_memory(block), layout.size()),
                placement => give_pages(placement, block, layout),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (block, is_zero) = match placement(layout) {
            Placement::Slab(class) => (shard::allocate(class, layout.size()).map(Free::into_memory), false),
            placement => pages_for(placement, layout).map_or((None, false), |(block, is_zero)| (Some(block), is_zero)),
        };
        let Some(block) = block else { return null_mut() };
        if !is_zero {
            // SAFETY: the block was allocated with this layout above.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block.as_ptr()
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller of `realloc` passes a block of this layout, and a nonzero size that forms a layout with the same alignment.
        // Both blocks have at least the smaller size. The old block is freed after its content was copied.
        unsafe {
            let new_layout = Layout::from_size_align_unchecked(new_size, layout.align());
            if placement(layout) == placement(new_layout) {
                shard::count_elsewhere(new_size as i64 - layout.size() as i64);
                return block;
            }
            let new = self.alloc(new_layout);
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// Allocates separate pages for a block. Returns the block, and `true` if the pages contain only zeros.
#[cold]
fn pages_for(placement: Placement, layout: Layout) -> Option<(NonNull<u8>, bool)> {
    let taken = match placement {
        Placement::Pages(len) => pages::take_pages(len).map(|(pages, is_zero)| (pages.into_memory(), is_zero))?,
        Placement::Offset(len) => {
            let (pages, is_zero) = pages::take_pages(len)?;
            let memory = pages.into_memory();
            let offset = (memory.addr().get() + SLAB).next_multiple_of(layout.align()) - memory.addr().get();
            // SAFETY: `placement` reserved space for the alignment, and one slab before the block that contains the word.
            // Pages and blocks are aligned for a word.
            let block = unsafe {
                let block = memory.add(offset);
                block.cast::<NonNull<u8>>().sub(1).write(memory);
                block
            };
            (block, is_zero)
        }
        Placement::Slab(_) | Placement::Nowhere => return None,
    };
    shard::count_elsewhere(layout.size() as i64);
    Some(taken)
}

/// Frees the pages of a block.
///
/// # Safety
/// [`pages_for`] returned the block for the same placement and layout, and no code uses the block any more.
#[cold]
unsafe fn give_pages(placement: Placement, block: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller promises a block of `pages_for`, which took pages of this length.
    // For a block at an offset, `pages_for` stored the address of the pages in the word before the block.
    let pages = unsafe {
        match placement {
            Placement::Pages(len) => Pages::from_memory(block, len),
            Placement::Offset(len) => Pages::from_memory(block.cast::<NonNull<u8>>().sub(1).read(), len),
            Placement::Slab(_) | Placement::Nowhere => return,
        }
    };
    shard::count_elsewhere(-(layout.size() as i64));
    pages::give_pages(pages);
}
