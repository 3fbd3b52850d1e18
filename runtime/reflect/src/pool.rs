//! Memory pool for values of one layout. A separate allocation per value would cost more than all other steps in the construction of a
//! small object. Separate allocations would also scatter the memory that the garbage collector's mark phase reads.
#![expect(unsafe_code, reason = "allocates pieces of larger allocations")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use alcedo_base::cells::RefCell;

use crate::block::Block;

/// Number of pieces in the first chunk. A piece is the memory of one value. Each later chunk has twice as many pieces, up to
/// [`MAX_CHUNK_BYTES`].
const FIRST_PIECES: usize = 16;

/// Maximum size of a chunk in bytes. If a piece is larger than this size, each chunk has one piece.
const MAX_CHUNK_BYTES: usize = 256 * 1024;

/// Pool of pieces of one layout. The pool reuses returned pieces. Dropping the pool returns all memory to the system.
#[derive(Debug)]
pub(super) struct Pool {
    /// Layout of one piece, padded for contiguous storage.
    piece: Layout,
    /// Head of the free list. The first word of a free piece points to the next free piece.
    free: Cell<Option<NonNull<u8>>>,
    /// First unused piece of the current chunk, and the number of unused pieces in the chunk.
    fresh: Cell<(NonNull<u8>, usize)>,
    /// Chunks that contain the pieces. Each user of a piece keeps the owner of the pool alive.
    chunks: RefCell<Vec<Block>>,
}

impl Pool {
    /// Creates a pool for pieces of `size` bytes. `size` may be zero.
    ///
    /// # Panics
    /// Panics if `align` is not a power of two or the size overflows.
    pub(super) fn new(size: usize, align: usize) -> Self {
        let room = size.max(size_of::<NonNull<u8>>());
        let piece = Layout::from_size_align(room, align.max(align_of::<NonNull<u8>>()));
        let piece = piece.expect("an alignment is a power of two").pad_to_align();
        Self { piece, free: Cell::default(), fresh: Cell::new((NonNull::dangling(), 0)), chunks: RefCell::default() }
    }

    /// Takes a zeroed piece from the pool. The piece is valid until it is returned to the pool, or until the pool is dropped.
    #[inline]
    pub(super) fn take(&self) -> NonNull<u8> {
        if cfg!(alcedo_asan) {
            return self.alone();
        }
        if let Some(piece) = self.free.get() {
            // SAFETY: `put_back` wrote the word into the piece, which has at least eight bytes and was not taken since.
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
        let next = piece.map_addr(|address| address.saturating_add(self.piece.size()));
        self.fresh.set((next, left - 1));
        piece
    }

    /// Returns a piece to the pool.
    ///
    /// # Safety
    /// `piece` came from `take` of this pool, was not returned since, and is not used after this call.
    #[inline]
    pub(super) unsafe fn put_back(&self, piece: NonNull<u8>) {
        // SAFETY: the caller no longer uses the piece.
        // The piece was allocated by `alone` with this layout, or is in a chunk and has the size and alignment of the word.
        unsafe {
            if cfg!(alcedo_asan) {
                return dealloc(piece.as_ptr(), self.piece);
            }
            piece.cast::<Option<NonNull<u8>>>().write(self.free.get());
        }
        self.free.set(Some(piece));
    }

    /// Allocates a piece separately, so that a sanitizer detects a use of the freed piece.
    fn alone(&self) -> NonNull<u8> {
        // SAFETY: the size of a piece is not zero.
        let start = unsafe { alloc_zeroed(self.piece) };
        NonNull::new(start).unwrap_or_else(|| handle_alloc_error(self.piece))
    }

    #[cold]
    fn grow(&self) -> (NonNull<u8>, usize) {
        let mut chunks = self.chunks.borrow_mut();
        let pieces = (FIRST_PIECES << chunks.len().min(24)).min(MAX_CHUNK_BYTES / self.piece.size()).max(1);
        let size = self.piece.size().checked_mul(pieces).expect("an object is smaller than half the address space");
        let chunk = Block::new(size, self.piece.align());
        let start = NonNull::new(chunk.start()).expect("memory has an address");
        chunks.push(chunk);
        (start, pieces)
    }
}

#[cfg(test)]
mod tests;
