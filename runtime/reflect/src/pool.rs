//! Memory for many values of one layout, side by side: an allocation of its own for each would cost more than the rest of
//! a small object's construction, and would spread what a mark reads over all of memory.
#![expect(unsafe_code, reason = "hands out pieces of larger allocations")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use alcedo_base::cells::RefCell;

use crate::block::Block;

/// Pieces of the first allocation; each later one has twice as many, up to [`MOST_BYTES`].
const FIRST_PIECES: usize = 16;

/// How large the allocations become. A piece that is larger has one of its own.
const MOST_BYTES: usize = 256 * 1024;

/// Pieces of one layout. They are given back to the system all together, when the pool goes; until then each serves the
/// next that asks.
#[derive(Debug)]
pub(super) struct Pool {
    /// Of one piece, padded so that they lie behind each other.
    piece: Layout,
    /// A piece that was given back; its first word leads to the one given back before.
    free: Cell<Option<NonNull<u8>>>,
    /// The next piece that was never used, and how many of them follow, itself included.
    fresh: Cell<(NonNull<u8>, usize)>,
    /// What the pieces lie in. A holder of a piece keeps the pool's owner.
    chunks: RefCell<Vec<Block>>,
}

impl Pool {
    /// A pool for pieces of so many bytes, which may be none.
    ///
    /// # Panics
    /// When `align` is no power of two or the size overflows.
    pub(super) fn new(size: usize, align: usize) -> Self {
        let room = size.max(size_of::<NonNull<u8>>());
        let piece = Layout::from_size_align(room, align.max(align_of::<NonNull<u8>>()));
        let piece = piece.expect("an alignment is a power of two").pad_to_align();
        Self { piece, free: Cell::default(), fresh: Cell::new((NonNull::dangling(), 0)), chunks: RefCell::default() }
    }

    /// A piece of zeros, which stays until it is given back or the pool goes.
    #[inline]
    pub(super) fn take(&self) -> NonNull<u8> {
        if cfg!(alcedo_asan) {
            return self.alone();
        }
        if let Some(piece) = self.free.get() {
            // SAFETY: `give_back` wrote the word, and the piece, which has that many bytes, was not taken since.
            let next = unsafe {
                let next = piece.cast::<Option<NonNull<u8>>>().read();
                piece.write_bytes(0, self.piece.size());
                next
            };
            self.free.set(next);
            return piece;
        }
        let (piece, left) = match self.fresh.get() {
            (_, 0) => self.grow(),
            fresh => fresh,
        };
        // SAFETY: the piece is one of `left` of an allocation, so its end lies in it or is its end.
        let next = unsafe { piece.add(self.piece.size()) };
        self.fresh.set((next, left - 1));
        piece
    }

    /// Takes a piece back.
    ///
    /// # Safety
    /// `piece` came from `take` of this very pool, was not given back since, and its address is not used any more.
    #[inline]
    pub(super) unsafe fn give_back(&self, piece: NonNull<u8>) {
        // SAFETY: the caller gives up the piece, which `alone` allocated with this layout, or which lies in a chunk: then it has
        // room for the word and is aligned for it.
        unsafe {
            if cfg!(alcedo_asan) {
                return dealloc(piece.as_ptr(), self.piece);
            }
            piece.cast::<Option<NonNull<u8>>>().write(self.free.get());
        }
        self.free.set(Some(piece));
    }

    /// A piece that is an allocation of its own: only then does a sanitizer see that it is used after its end.
    fn alone(&self) -> NonNull<u8> {
        // SAFETY: a piece is not empty.
        let start = unsafe { alloc_zeroed(self.piece) };
        NonNull::new(start).unwrap_or_else(|| handle_alloc_error(self.piece))
    }

    #[cold]
    fn grow(&self) -> (NonNull<u8>, usize) {
        let mut chunks = self.chunks.borrow_mut();
        let pieces = (FIRST_PIECES << chunks.len().min(24)).min(MOST_BYTES / self.piece.size()).max(1);
        let size = self.piece.size().checked_mul(pieces).expect("an object is smaller than half the address space");
        let chunk = Block::new(size, self.piece.align());
        let start = NonNull::new(chunk.start()).expect("memory has an address");
        chunks.push(chunk);
        (start, pieces)
    }
}

#[cfg(test)]
mod tests;
