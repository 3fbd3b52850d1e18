//! How many bytes the values of a thread hold beside the memory that they lie in: rows of arrays, sets and maps, the bytes of texts,
//! and names, which are kept for good. Whoever lets others make values sees by this how much they took together.

use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that are held now. The hash tables of sets and maps and what the allocator adds are not in it.
#[inline]
pub fn bytes() -> usize {
    HELD.get()
}

/// So many more.
#[inline]
pub(crate) fn more(bytes: usize) {
    HELD.set(HELD.get().wrapping_add(bytes));
}

/// So many less.
#[inline]
pub(crate) fn less(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub(bytes));
}

#[cfg(test)]
mod tests {
    use crate::owned::OwnedValue;
    use crate::property::PropertyType;
    use crate::value::Value;

    #[test]
    fn a_text_holds_its_bytes_until_it_ends() {
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
