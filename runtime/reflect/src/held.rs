//! Counts the heap bytes that the values of a thread own. The count includes rows of containers, bytes of strings, and interned names.
//! Interned names are never freed. The runtime uses this count to limit the memory of scripts.

use std::cell::Cell;

thread_local! {
    static HELD_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of owned bytes. Excludes the hash tables of sets and maps and the overhead of the allocator.
#[inline]
pub fn bytes() -> usize {
    HELD_BYTES.get()
}

#[inline]
pub(crate) fn more(bytes: usize) {
    HELD_BYTES.set(HELD_BYTES.get().wrapping_add(bytes));
}

#[inline]
pub(crate) fn less(bytes: usize) {
    HELD_BYTES.set(HELD_BYTES.get().wrapping_sub(bytes));
}

#[cfg(test)]
mod tests {
    use crate::owned::OwnedValue;
    use crate::property::PropertyType;
    use crate::value::Value;

    #[test]
    fn strings_own_their_bytes_until_destroyed() {
        let before = super::bytes();
        let mut text = OwnedValue::zero(PropertyType::Text);
        text.write(&Value::Text("x".repeat(1_000))).expect("a text");
        assert!(super::bytes() >= before + 1_000);
        let copy = OwnedValue::copy_of(text.as_ptr());
        assert!(super::bytes() >= before + 2_000);
        drop((text, copy));
        assert_eq!(super::bytes(), before);
    }
}
