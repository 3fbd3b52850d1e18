//! Memory of the heap and its ownership: pages, slabs and blocks. Each value of [`Pages`] or [`Free`] owns its memory, so memory cannot be
//! freed twice and cannot have two owners.
//! A slab is 64 KiB long and contains a header and blocks of one size. Freed blocks are linked through their first words. Blocks that were
//! never used are not linked, so their pages remain untouched until an allocation needs them.
#![expect(unsafe_code, reason = "maps memory, finds heads by address, and keeps lists inside freed blocks")]

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut, with_exposed_provenance};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::classes::{HEAD, SIZES, SLAB, first_block};
use super::shard::Shard;
use crate::hooks::platform;
use crate::outside::hook_context;

/// Pages of memory. The address and the nonzero length are multiples of [`SLAB`].
pub(super) struct Pages {
    memory: NonNull<u8>,
    len: usize,
}

// SAFETY: the value is the only owner of the pages.
unsafe impl Send for Pages {}

impl Pages {
    /// Allocates zeroed pages of this length from the host, or from the platform without a host.
    pub(super) fn grow(len: usize) -> Option<Self> {
        if len == 0 || !len.is_multiple_of(SLAB) {
            return None;
        }
        let memory = match hook_context() {
            // SAFETY: the image pointer is from the same context, and the length is a multiple of `SLAB`.
            Some(context) => unsafe { (context.table.heap_grow)(context.image, len) }.cast::<u8>(),
            None => map_aligned(len),
        };
        NonNull::new(memory).map(|memory| Self { memory, len })
    }

    /// Returns the pages to the host or the platform.
    pub(super) fn shrink(self) {
        let memory = self.memory.as_ptr().cast::<c_void>();
        // SAFETY: the image pointer is from the same context. `self` owns the pages, which `grow` allocated in the same way.
        // `munmap` fails only if kernel memory is exhausted. The pages then stay mapped, which is harmless.
        unsafe {
            match hook_context() {
                Some(context) => (context.table.heap_shrink)(context.image, memory, self.len),
                None => _ = platform::munmap(memory, self.len),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn split(self) -> (Free<Whole>, Option<Self>) {
        let rest = (self.len > SLAB).then(|| {
            let memory = self.memory.map_addr(|address| address.saturating_add(SLAB));
            Self { memory, len: self.len - SLAB }
        });
        (Free(self.memory, PhantomData), rest)
    }

    /// Passes ownership of the memory to the caller.
    pub(super) fn into_memory(self) -> NonNull<u8> {
        self.memory
    }

    /// Reverses [`Pages::into_memory`]: creates a value that owns the pages.
    ///
    /// # Safety
    /// [`Pages::into_memory`] returned `memory` for pages of length `len`, and no code uses the memory any more.
    pub(super) unsafe fn from_memory(memory: NonNull<u8>, len: usize) -> Self {
        Self { memory, len }
    }
}

/// Maps pages aligned to [`SLAB`]. The platform aligns only to its page size, so this function maps one additional slab and unmaps the
/// excess.
fn map_aligned(len: usize) -> *mut u8 {
    let Some(more) = len.checked_add(SLAB) else { return null_mut() };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address that the platform selects does not affect used memory, and no code uses the excess.
    // `munmap` fails only if kernel memory is exhausted. The excess then stays mapped, which is harmless.
    unsafe {
        let mapped = platform::mmap(null_mut(), more, protection, flags, -1, 0);
        if mapped == libc::MAP_FAILED {
            return null_mut();
        }
        let before = mapped.addr().next_multiple_of(SLAB) - mapped.addr();
        let aligned = mapped.wrapping_byte_add(before);
        for (memory, len) in [(mapped, before), (aligned.wrapping_byte_add(len), SLAB - before)] {
            if len > 0 {
                let _unmapped = platform::munmap(memory, len);
            }
        }
        aligned.cast()
    }
}

/// Marker for a block of a slab, with a size and alignment of at least 16 bytes.
pub(super) enum Block {}

/// Marker for a whole slab: [`SLAB`] bytes, aligned to [`SLAB`], with arbitrary content. Owned by the heap until the image is unmapped.
pub(super) enum Whole {}

/// Memory of kind `K`. Only the owner of this value uses the memory.
pub(super) struct Free<K>(NonNull<u8>, PhantomData<K>);

// SAFETY: the value is the only owner of the memory.
unsafe impl<K> Send for Free<K> {}

impl<K> Free<K> {
    /// Stores the address of the next list element in the first word of this memory.
    #[inline]
    fn link(&self, next: *mut u8) {
        // SAFETY: `self` is the only owner of the memory, and a block or a slab has at least 16 bytes and is aligned to at least 16 bytes.
        unsafe { self.0.cast::<*mut u8>().write(next) }
    }
}

impl Free<Block> {
    /// Passes ownership of the memory to the caller.
    #[inline]
    pub(super) fn into_memory(self) -> NonNull<u8> {
        self.0
    }

    /// Reverses [`Free::into_memory`]: creates a value that owns the memory.
    ///
    /// # Safety
    /// [`Free::into_memory`] returned `memory`, and no code uses the memory any more.
    #[inline]
    pub(super) unsafe fn from_memory(memory: NonNull<u8>) -> Self {
        Self(memory, PhantomData)
    }
}

/// List of free memory of one kind. The first word of each element stores the address of the next element.
pub(super) struct FreeList<K>(Cell<*mut u8>, PhantomData<K>);

// SAFETY: the list owns the memory of its elements.
unsafe impl<K> Send for FreeList<K> {}

impl<K> FreeList<K> {
    pub(super) const fn new() -> Self {
        Self(Cell::new(null_mut()), PhantomData)
    }

    #[inline]
    pub(super) fn push(&self, piece: Free<K>) {
        piece.link(self.0.get());
        self.0.set(piece.0.as_ptr());
    }

    #[inline]
    pub(super) fn pop(&self) -> Option<Free<K>> {
        let piece = NonNull::new(self.0.get())?;
        // SAFETY: `push` linked the piece and took ownership of it, so no code has used the piece since then.
        self.0.set(unsafe { piece.cast::<*mut u8>().read() });
        Some(Free(piece, PhantomData))
    }
}

/// Blocks of a shard that other threads have freed. The owner of the shard collects these blocks.
pub(super) struct Returned(AtomicPtr<u8>);

impl Returned {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Adds a freed block. Callable on any thread.
    pub(super) fn push(&self, block: Free<Block>) {
        let mut first = self.0.load(Ordering::Relaxed);
        loop {
            block.link(first);
            match self.0.compare_exchange_weak(first, block.0.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => first = found,
            }
        }
    }

    /// Removes and returns all returned blocks. Only the shard's owner may call this function.
    #[inline]
    pub(super) fn take(&self) -> FreeList<Block> {
        let is_empty = self.0.load(Ordering::Relaxed).is_null();
        let first = if is_empty { null_mut() } else { self.0.swap(null_mut(), Ordering::Acquire) };
        FreeList(Cell::new(first), PhantomData)
    }
}

/// Header of a slab. The blocks follow the header. All threads may access `shard` and `class`; only the owner of `shard` accesses the
/// remaining fields.
#[repr(C, align(128))]
pub(super) struct Slab {
    head: Head,
    blocks: UnsafeCell<[MaybeUninit<u8>; SLAB - HEAD]>,
}

#[repr(C, align(128))]
pub(super) struct Head {
    /// Shard that owns the slab; constant while a block is in use.
    pub(super) shard: &'static Shard,
    /// Size class of the slab's blocks, as an index into [`SIZES`].
    pub(super) class: usize,
    /// Neighbors in the shard's list of slabs that have free blocks.
    pub(super) next: Cell<Option<&'static Slab>>,
    pub(super) previous: Cell<Option<&'static Slab>>,
    /// True if the shard's list contains the slab.
    pub(super) is_listed: Cell<bool>,
    free: FreeList<Block>,
    /// Offset from the start of the slab to the first block that was never used.
    unused: Cell<usize>,
    in_use: Cell<usize>,
}

const _: () = assert!(size_of::<Slab>() == SLAB && size_of::<Head>() == HEAD);

impl core::ops::Deref for Slab {
    type Target = Head;

    #[inline]
    fn deref(&self) -> &Head {
        &self.head
    }
}

impl Slab {
    pub(super) fn new(memory: Free<Whole>, shard: &'static Shard, class: usize) -> &'static Self {
        let head = Head {
            shard,
            class,
            next: Cell::new(None),
            previous: Cell::new(None),
            is_listed: Cell::new(false),
            free: FreeList::new(),
            unused: Cell::new(first_block(class)),
            in_use: Cell::new(0),
        };
        let _exposed = memory.0.as_ptr().expose_provenance();
        // SAFETY: by its type, the memory is that of a slab, has no other owner, and stays mapped until the image is unmapped.
        // The header is at the start of the slab and is written first. The blocks may have any content.
        unsafe {
            memory.0.cast::<Head>().write(head);
            memory.0.cast::<Self>().as_ref()
        }
    }

    /// Returns the slab of a block.
    ///
    /// # Safety
    /// The caller does not use the result after [`Slab::retire`]. `retire` requires that all blocks of the slab were put back.
    #[inline]
    pub(super) unsafe fn of(block: &Free<Block>) -> &'static Self {
        let slab = with_exposed_provenance::<Self>(block.0.as_ptr().addr() & !(SLAB - 1));
        // SAFETY: every block is in a slab that is aligned to its length, and `new` exposed the provenance of each slab.
        // The caller promises not to use the result after `retire`.
        unsafe { &*slab }
    }

    /// Returns a free block. Only the shard's owner may call this function.
    #[inline]
    pub(super) fn take(&'static self) -> Option<Free<Block>> {
        let block = match self.free.pop() {
            Some(block) => block,
            None => self.take_unused()?,
        };
        self.in_use.set(self.in_use.get() + 1);
        Some(block)
    }

    fn take_unused(&'static self) -> Option<Free<Block>> {
        let (at, size) = (self.unused.get(), SIZES[self.class]);
        if at + size > SLAB {
            return None;
        }
        self.unused.set(at + size);
        // Only this function returns blocks that were never used, so no other code uses this block.
        Some(Free(self.memory().map_addr(|address| address.saturating_add(at)), PhantomData))
    }

    /// Accepts a freed block. Returns true if all blocks of the slab are now free. Only the shard's owner may call this function.
    ///
    /// # Safety
    /// The block belongs to this slab, and the caller owns the slab's shard.
    #[inline]
    pub(super) unsafe fn put(&self, block: Free<Block>) -> bool {
        self.free.push(block);
        self.in_use.set(self.in_use.get() - 1);
        self.in_use.get() == 0
    }

    /// Returns the memory of the slab for reuse.
    ///
    /// # Safety
    /// The caller owns the slab's shard. No block of the slab is in use, the slab is in no list, and no code uses the slab any more.
    pub(super) unsafe fn retire(&'static self) -> Free<Whole> {
        Free(self.memory(), PhantomData)
    }

    fn memory(&'static self) -> NonNull<u8> {
        NonNull::from(self).cast()
    }
}
