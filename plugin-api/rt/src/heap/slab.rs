//! A slab: 64 KiB of blocks of one size, with its head in front. Freed blocks are a list through their first words;
//! blocks never used yet are not in it, so that fresh pages stay untouched until they are needed.
#![expect(unsafe_code, reason = "finds heads by address, and keeps lists inside freed blocks")]

use core::cell::{Cell, UnsafeCell};
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut, with_exposed_provenance};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::classes::{HEAD, SIZES, SLAB, first_block};
use super::shard::Shard;

/// Writes into a free block which one comes after it.
///
/// # Safety
/// `block` is a whole block of a slab, and the caller is its only owner.
#[inline]
unsafe fn link(block: NonNull<u8>, next: *mut u8) {
    // SAFETY: promised by our caller; a block has at least 16 bytes, aligned to 16.
    unsafe { block.cast::<*mut u8>().write(next) }
}

/// Reads which one comes after it.
///
/// # Safety
/// `block` was linked, and nobody has used it since.
#[inline]
unsafe fn next_of(block: NonNull<u8>) -> *mut u8 {
    // SAFETY: promised by our caller.
    unsafe { block.cast::<*mut u8>().read() }
}

/// Blocks that other threads gave back, for the owner to collect.
pub(super) struct Returned(AtomicPtr<u8>);

impl Returned {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Any thread gives a block back.
    ///
    /// # Safety
    /// `block` is a whole block of a slab, and the caller is its only owner until now.
    pub(super) unsafe fn push(&self, block: NonNull<u8>) {
        let mut first = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: promised by our caller; it is not in the list yet.
            unsafe { link(block, first) };
            match self.0.compare_exchange_weak(first, block.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => first = found,
            }
        }
    }

    /// The owner takes all there are.
    #[inline]
    pub(super) fn take(&self) -> impl Iterator<Item = NonNull<u8>> + use<> {
        let is_empty = self.0.load(Ordering::Relaxed).is_null();
        let mut next = if is_empty { null_mut() } else { self.0.swap(null_mut(), Ordering::Acquire) };
        core::iter::from_fn(move || {
            let block = NonNull::new(next)?;
            // SAFETY: whoever pushed it has linked it, and the swap made it ours.
            next = unsafe { next_of(block) };
            Some(block)
        })
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
    free: Cell<*mut u8>,
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
    ///
    /// # Safety
    /// `memory` is [`SLAB`] bytes, aligned to as many, the caller's alone, and stays until the image is gone.
    pub(super) unsafe fn new(memory: NonNull<u8>, shard: &'static Shard, class: usize) -> &'static Self {
        let head = Head {
            shard,
            class,
            next: Cell::new(None),
            previous: Cell::new(None),
            is_listed: Cell::new(false),
            free: Cell::new(null_mut()),
            unused: Cell::new(first_block(class)),
            in_use: Cell::new(0),
        };
        // SAFETY: promised by our caller; the head stands at the beginning.
        unsafe { memory.cast::<Head>().write(head) };
        let _for_those_who_come_from_a_block = memory.as_ptr().expose_provenance();
        // SAFETY: the head was written just now, and the blocks may be anything.
        unsafe { memory.cast::<Self>().as_ref() }
    }

    /// The slab that a block is of.
    ///
    /// # Safety
    /// `block` is a block of a slab.
    #[inline]
    pub(super) unsafe fn of(block: NonNull<u8>) -> &'static Self {
        let slab = with_exposed_provenance::<Self>(block.as_ptr().addr() & !(SLAB - 1));
        // SAFETY: promised by our caller; slabs are aligned to their length, and `new` exposed each.
        unsafe { &*slab }
    }

    /// A free block. Only the owner calls this.
    #[inline]
    pub(super) fn take(&'static self) -> Option<NonNull<u8>> {
        let block = match NonNull::new(self.free.get()) {
            Some(block) => {
                // SAFETY: `put` linked it, and nobody has used it since.
                self.free.set(unsafe { next_of(block) });
                block
            }
            None => self.take_unused()?,
        };
        self.in_use.set(self.in_use.get() + 1);
        Some(block)
    }

    fn take_unused(&'static self) -> Option<NonNull<u8>> {
        let (at, size) = (self.unused.get(), SIZES[self.class]);
        if at + size > SLAB {
            return None;
        }
        self.unused.set(at + size);
        // SAFETY: the block lies inside the slab, which is `SLAB` bytes.
        Some(unsafe { self.memory().add(at) })
    }

    /// Takes a block back; whether none is in use any more. Its owner gives.
    ///
    /// # Safety
    /// `block` is a block of this slab that nobody uses any more, and the caller owns the slab's shard.
    #[inline]
    pub(super) unsafe fn put(&self, block: NonNull<u8>) -> bool {
        // SAFETY: promised by our caller.
        unsafe { link(block, self.free.get()) };
        self.free.set(block.as_ptr());
        self.in_use.set(self.in_use.get() - 1);
        self.in_use.get() == 0
    }

    /// The whole slab as memory.
    pub(super) fn memory(&'static self) -> NonNull<u8> {
        NonNull::from(self).cast()
    }
}
