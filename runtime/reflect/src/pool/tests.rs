//! Tests of pool allocation and reuse.
#![expect(unsafe_code, reason = "writes to the pieces of the tests")]

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
        // SAFETY: a piece has `size` bytes.
        unsafe { piece.write_bytes(0xee, size) };
    }
    for piece in &pieces {
        // SAFETY: the piece came from this pool and is not used again.
        unsafe { pool.put_back(*piece) };
    }
    for _ in 0..1000 {
        let piece = pool.take();
        let is_known = addresses.contains(&piece.addr().get());
        assert!(is_known || cfg!(alcedo_asan), "returned memory is reused");
        // SAFETY: a piece has `size` bytes.
        let bytes = unsafe { std::slice::from_raw_parts(piece.as_ptr(), size) };
        assert!(bytes.iter().all(|byte| *byte == 0), "and is zero again");
    }
}

#[test]
fn pieces_do_not_overlap_and_are_zeroed() {
    for (size, align) in [(0, 1), (1, 1), (8, 8), (16, 16), (24, 8), (32, 8), (33, 1), (40, 64), (300_000, 16)] {
        check(size, align);
    }
}
