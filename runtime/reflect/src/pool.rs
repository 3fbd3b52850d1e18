//! Memory for many values of one layout, side by side: an allocation of its own for each would cost more than the rest of
//! a small object's construction, and would spread what a mark reads over all of memory.
#![expect(unsafe_code, reason = "hands out pieces of larger allocations")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use alcedo_base::cells::RefCell;

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
    chunks: RefCell<Vec<(NonNull<u8>, Layout)>>,
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
        if cfg!(alcedo_asan) {
            // SAFETY: `take` allocated it alone, with this layout, and the caller gives it up.
            return unsafe { dealloc(piece.as_ptr(), self.piece) };
        }
        // SAFETY: the caller gives up the piece, which has room for the word and is aligned for it.
        unsafe { piece.cast::<Option<NonNull<u8>>>().write(self.free.get()) };
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
        let layout = Layout::from_size_align(size, self.piece.align()).expect("a piece's alignment is a power of two");
        // SAFETY: a piece is not empty, and there is one at least.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        chunks.push((start, layout));
        (start, pieces)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (start, layout) in self.chunks.get_mut().drain(..) {
            // SAFETY: `grow` allocated it with this layout. A holder of a piece keeps the pool's owner.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Pool;

    fn check(size: usize, align: usize) {
        let pool = Pool::new(size, align);
        let pieces: Vec<_> = (0..1000).map(|_| pool.take()).collect();
        let addresses: BTreeSet<_> = pieces.iter().map(|piece| piece.addr().get()).collect();
        assert_eq!(addresses.len(), pieces.len(), "each is given out once");
        let apart = addresses.iter().zip(addresses.iter().skip(1)).all(|(one, next)| next - one >= size);
        assert!(apart && addresses.iter().all(|address| address % align == 0), "{size} {align}");
        for piece in &pieces {
            // SAFETY: a piece has so many bytes.
            unsafe { piece.write_bytes(0xee, size) };
        }
        for piece in &pieces {
            // SAFETY: it came from this pool and is not used any more.
            unsafe { pool.give_back(*piece) };
        }
        for _ in 0..1000 {
            let piece = pool.take();
            let is_known = addresses.contains(&piece.addr().get());
            assert!(is_known || cfg!(alcedo_asan), "what was given back is used again");
            // SAFETY: a piece has so many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(piece.as_ptr(), size) };
            assert!(bytes.iter().all(|byte| *byte == 0), "and is zero again");
        }
    }

    #[test]
    fn pieces_lie_apart_and_are_zero() {
        for (size, align) in [(0, 1), (1, 1), (8, 8), (24, 8), (33, 1), (40, 64), (300_000, 16)] {
            check(size, align);
        }
    }
}
