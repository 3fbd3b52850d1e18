//! Memory of the heap, and who owns it: pages, slabs and blocks. A value of [`Pages`] or [`Free`] is the memory, so it cannot
//! be given back twice, nor used by two.
//!
//! A slab is 64 KiB of blocks of one size, with its head in front. Freed blocks are a list through their first words; blocks
//! never used yet are not in it, so that fresh pages stay untouched until they are needed.
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

/// Pages: an address that is a multiple of [`SLAB`], and a length that is one and not zero.
pub(super) struct Pages {
    memory: NonNull<u8>,
    len: usize,
}

// SAFETY: they are memory that belongs to the value.
unsafe impl Send for Pages {}

impl Pages {
    /// Zeroed pages of this length: from the host, or from the platform where there is none.
    pub(super) fn grow(len: usize) -> Option<Self> {
        if len == 0 || !len.is_multiple_of(SLAB) {
            return None;
        }
        let memory = match hook_context() {
            // SAFETY: the image is that of the same context, and the length is a multiple of `SLAB`.
            Some(context) => unsafe { (context.table.heap_grow)(context.image, len) }.cast::<u8>(),
            None => map_aligned(len),
        };
        NonNull::new(memory).map(|memory| Self { memory, len })
    }

    /// Gives them back to where they are from.
    pub(super) fn shrink(self) {
        let memory = self.memory.as_ptr().cast::<c_void>();
        // SAFETY: the image is that of the same context. The pages are the value's, and from `grow`, which asks the host if
        // there is one. The platform refuses only for want of kernel memory, and then they stay, which does no harm.
        unsafe {
            match hook_context() {
                Some(context) => (context.table.heap_shrink)(context.image, memory, self.len),
                None => _ = platform::munmap(memory, self.len),
            }
        }
    }

    /// How many bytes they are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The first slab of them, and the rest.
    pub(super) fn split(self) -> (Free<Whole>, Option<Self>) {
        let rest = (self.len > SLAB).then(|| {
            // SAFETY: the pages are longer than one slab.
            let memory = unsafe { self.memory.add(SLAB) };
            Self { memory, len: self.len - SLAB }
        });
        (Free(self.memory, PhantomData), rest)
    }

    /// They are the caller's from here on.
    pub(super) fn into_memory(self) -> NonNull<u8> {
        self.memory
    }

    /// The opposite of [`Pages::into_memory`].
    ///
    /// # Safety
    /// `memory` is from there, of pages of this length, and is used by nobody any more.
    pub(super) unsafe fn from_memory(memory: NonNull<u8>, len: usize) -> Self {
        Self { memory, len }
    }
}

/// The platform aligns to its own pages, so one slab more is asked for and what sticks out is given back.
fn map_aligned(len: usize) -> *mut u8 {
    let Some(more) = len.checked_add(SLAB) else { return null_mut() };
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping wherever there is room touches no memory in use, and what is given back of it is used by nobody.
    // The platform refuses that only for want of kernel memory, and then it stays, which does no harm.
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

/// A whole block of a slab: at least 16 bytes, aligned to as many.
pub(super) enum Block {}

/// The memory of a whole slab: [`SLAB`] bytes, aligned to as many, the heap's until the image is gone. Its content is anything.
pub(super) enum Whole {}

/// Memory that is a `K`, and is used by nobody but the one who has the value.
pub(super) struct Free<K>(NonNull<u8>, PhantomData<K>);

// SAFETY: it is memory that belongs to the value.
unsafe impl<K> Send for Free<K> {}

impl<K> Free<K> {
    /// Writes into its first word which one comes after it.
    #[inline]
    fn link(&self, next: *mut u8) {
        // SAFETY: whoever has the value is the only owner; a block or a slab has 16 bytes and more, aligned to as many.
        unsafe { self.0.cast::<*mut u8>().write(next) }
    }
}

impl Free<Block> {
    /// It is the caller's from here on.
    #[inline]
    pub(super) fn into_memory(self) -> NonNull<u8> {
        self.0
    }

    /// The opposite of [`Free::into_memory`].
    ///
    /// # Safety
    /// `memory` is from there, and is used by nobody any more.
    #[inline]
    pub(super) unsafe fn from_memory(memory: NonNull<u8>) -> Self {
        Self(memory, PhantomData)
    }
}

/// Free memory of one kind. It is a list through the first words.
pub(super) struct FreeList<K>(Cell<*mut u8>, PhantomData<K>);

// SAFETY: the list owns the memory in it.
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
        // SAFETY: whoever put it into the list linked it and gave it away, so that nobody has used it since.
        self.0.set(unsafe { piece.cast::<*mut u8>().read() });
        Some(Free(piece, PhantomData))
    }
}

/// Blocks that other threads gave back, for the owner to collect.
pub(super) struct Returned(AtomicPtr<u8>);

impl Returned {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Any thread gives a block back.
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

    /// The owner takes all there are.
    #[inline]
    pub(super) fn take(&self) -> FreeList<Block> {
        let is_empty = self.0.load(Ordering::Relaxed).is_null();
        let first = if is_empty { null_mut() } else { self.0.swap(null_mut(), Ordering::Acquire) };
        FreeList(Cell::new(first), PhantomData)
    }
}

/// The head of a slab and its blocks. All but `shard` and `class` belongs to the owner of that shard.
#[repr(C, align(128))]
pub(super) struct Slab {
    head: Head,
    blocks: UnsafeCell<[MaybeUninit<u8>; SLAB - HEAD]>,
}

#[repr(C, align(128))]
pub(super) struct Head {
    /// Whose it is; the same for as long as one of its blocks is in use.
    pub(super) shard: &'static Shard,
    /// The size of its blocks, as an index of [`SIZES`].
    pub(super) class: usize,
    /// Its neighbors in the shard's list of slabs with room.
    pub(super) next: Cell<Option<&'static Slab>>,
    pub(super) previous: Cell<Option<&'static Slab>>,
    /// Whether it is in that list.
    pub(super) is_listed: Cell<bool>,
    free: FreeList<Block>,
    /// Where the blocks begin that were never used, from the head.
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
    /// Makes a slab of `memory`.
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
        let _for_those_who_come_from_a_block = memory.0.as_ptr().expose_provenance();
        // SAFETY: the memory is a slab's by its type, is nobody else's, and stays until the image is gone. The head stands at
        // the beginning and is written first; the blocks may be anything.
        unsafe {
            memory.0.cast::<Head>().write(head);
            memory.0.cast::<Self>().as_ref()
        }
    }

    /// The slab that a block is of.
    ///
    /// # Safety
    /// It is not used after [`Slab::retire`], which cannot come before the block is put back.
    #[inline]
    pub(super) unsafe fn of(block: &Free<Block>) -> &'static Self {
        let slab = with_exposed_provenance::<Self>(block.0.as_ptr().addr() & !(SLAB - 1));
        // SAFETY: blocks lie in slabs, which are aligned to their length, and `new` exposed each; our caller promises an end.
        unsafe { &*slab }
    }

    /// A free block. Its owner asks.
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
        // SAFETY: the block lies inside the slab, which is `SLAB` bytes; only this function hands out what was never used.
        Some(Free(unsafe { self.memory().add(at) }, PhantomData))
    }

    /// Takes a block back; whether none is in use any more. Its owner gives.
    ///
    /// # Safety
    /// The block is of this slab, and the caller owns the slab's shard.
    #[inline]
    pub(super) unsafe fn put(&self, block: Free<Block>) -> bool {
        self.free.push(block);
        self.in_use.set(self.in_use.get() - 1);
        self.in_use.get() == 0
    }

    /// The whole slab as memory for another.
    ///
    /// # Safety
    /// The caller owns the slab's shard, none of its blocks is in use, it is in no list, and nobody uses it any more.
    pub(super) unsafe fn retire(&'static self) -> Free<Whole> {
        Free(self.memory(), PhantomData)
    }

    fn memory(&'static self) -> NonNull<u8> {
        NonNull::from(self).cast()
    }
}
