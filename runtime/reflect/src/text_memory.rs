//! Texts in raw memory: their bytes belong to the host, and are copied in and out.
#![expect(unsafe_code, reason = "texts lie in raw memory that plugins read too")]

use std::alloc::{Layout, handle_alloc_error};

use alcedo_abi::value::TextRaw;

use crate::block;

/// A copy of the bytes of the text at `at`.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody writes meanwhile.
pub(crate) unsafe fn text_bytes(at: *const TextRaw) -> Vec<u8> {
    // SAFETY: the caller promises it.
    let text = unsafe { at.read() };
    if text.len == 0 {
        return Vec::new();
    }
    // SAFETY: only `text_assign_raw` gives a text a length, and then this many bytes are there. The slice lives for one
    // copy, in which nobody writes.
    unsafe { std::slice::from_raw_parts(text.data, text.len) }.to_vec()
}

/// A copy of the UTF-8 text at `at`.
///
/// # Safety
/// As for [`text_bytes`].
pub(crate) unsafe fn text_read(at: *const TextRaw) -> String {
    // SAFETY: the caller promises the same.
    let bytes = unsafe { text_bytes(at) };
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A copy of the text at `at`, which has one byte a character.
///
/// # Safety
/// As for [`text_bytes`].
pub(crate) unsafe fn ansi_read(at: *const TextRaw) -> String {
    // SAFETY: the caller promises the same.
    unsafe { text_bytes(at) }.into_iter().map(char::from).collect()
}

/// Whether two texts have the same bytes.
///
/// # Safety
/// Both are aligned [`TextRaw`]s in host memory that nobody writes meanwhile.
pub(crate) unsafe fn text_equal(one: *const TextRaw, two: *const TextRaw) -> bool {
    // SAFETY: the caller promises it.
    let one = unsafe { one.read() };
    // SAFETY: the caller promises it.
    let two = unsafe { two.read() };
    if one.len != two.len || one.len == 0 {
        return one.len == two.len;
    }
    // SAFETY: only `text_assign_raw` gives a text a length, and then this many bytes are there.
    let one = unsafe { std::slice::from_raw_parts(one.data, one.len) };
    // SAFETY: as above.
    one == unsafe { std::slice::from_raw_parts(two.data, two.len) }
}

/// Shows `look` the bytes of a text.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody writes meanwhile, not even `look`.
pub(crate) unsafe fn with_bytes<T>(at: *const TextRaw, look: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: the caller promises it.
    let text = unsafe { at.read() };
    if text.len == 0 {
        return look(&[]);
    }
    // SAFETY: only `text_assign_raw` gives a text a length, and then this many bytes are there.
    look(unsafe { std::slice::from_raw_parts(text.data, text.len) })
}

/// Overwrites the text at `at` with a copy of `text`.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody else reads or writes meanwhile, and `text` does not lie
/// in its bytes; if it may, use [`text_assign_raw`].
pub unsafe fn text_assign(at: *mut TextRaw, text: &str) {
    // SAFETY: the caller promises the text to write; a `&str` is readable.
    unsafe { text_assign_raw(at, text.as_ptr(), text.len()) };
}

/// Overwrites the text at `at`, which has one byte a character, with a copy of `text`. A letter that is not of
/// ISO 8859-1 becomes a question mark: see that there is none.
///
/// # Safety
/// As for [`text_assign`].
pub unsafe fn ansi_assign(at: *mut TextRaw, text: &str) {
    let bytes: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect();
    // SAFETY: the caller promises the text to write; the bytes are readable.
    unsafe { text_assign_raw(at, bytes.as_ptr(), bytes.len()) };
}

/// Overwrites the text at `to` with the bytes of that at `from`.
///
/// # Safety
/// Both are aligned [`TextRaw`]s in host memory that nobody else reads or writes meanwhile.
pub(crate) unsafe fn text_copy(to: *mut TextRaw, from: *const TextRaw) {
    // SAFETY: the caller promises a text there.
    let from = unsafe { from.read() };
    // SAFETY: the caller promises the text to write, and the other text has that many bytes.
    unsafe { text_assign_raw(to, from.data, from.len) };
}

/// Overwrites the text at `at` with a copy of the `len` bytes at `data`, which may lie in the text itself.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody else reads or writes meanwhile. `data` is readable for
/// `len` bytes, and no reference to those bytes is used again if they lie in the text.
pub unsafe fn text_assign_raw(at: *mut TextRaw, data: *const u8, len: usize) {
    if len == 0 {
        // SAFETY: the caller promises the text.
        return unsafe { text_destroy(at) };
    }
    // SAFETY: the caller promises the text.
    let old = unsafe { at.read() };
    if len <= old.capacity {
        // SAFETY: `data` is readable by the caller's promise, and that many bytes are reserved; they may overlap.
        unsafe { old.data.copy_from(data, len) };
        // SAFETY: the caller promises the text.
        unsafe { at.write(TextRaw { len, ..old }) };
        return;
    }
    let layout = bytes(len);
    let fresh = block::take(layout).unwrap_or_else(|| handle_alloc_error(layout)).as_ptr();
    // SAFETY: `data` is readable by the caller's promise, and the new bytes are apart from all others.
    unsafe { fresh.copy_from_nonoverlapping(data, len) };
    // SAFETY: the caller promises the text; its old bytes were copied from, and now nobody needs them.
    unsafe { text_destroy(at) };
    // SAFETY: the caller promises the text.
    unsafe { at.write(TextRaw { data: fresh, len, capacity: len }) };
}

/// Frees the text's bytes and leaves the empty text.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nobody else reads or writes meanwhile.
pub(crate) unsafe fn text_destroy(at: *mut TextRaw) {
    // SAFETY: the caller promises the text.
    let old = unsafe { at.replace(TextRaw::EMPTY) };
    if old.capacity != 0 {
        // SAFETY: only `text_assign_raw` reserves bytes, with this layout, and the text has just forgotten them.
        unsafe { block::give_back(old.data, bytes(old.capacity)) };
    }
}

fn bytes(len: usize) -> Layout {
    Layout::array::<u8>(len).expect("a text is shorter than half the address space")
}

#[cfg(test)]
mod tests {
    use super::{TextRaw, ansi_assign, ansi_read, text_assign, text_assign_raw, text_destroy, text_equal, text_read};

    #[test]
    fn a_text_grows_shrinks_and_may_be_a_part_of_itself() {
        let mut text = TextRaw::EMPTY;
        let at = &raw mut text;
        for words in ["", "short", "a good deal longer than that", "x", ""] {
            // SAFETY: `at` is a text of this test, and `words` lies elsewhere.
            unsafe { text_assign(at, words) };
            // SAFETY: as above.
            assert_eq!(unsafe { text_read(at) }, words);
        }
        // SAFETY: as above.
        unsafe { text_assign(at, "hello world") };
        // SAFETY: as above.
        let data = unsafe { (*at).data };
        // SAFETY: the five bytes at 6 lie in the text, and no reference to them exists.
        unsafe { text_assign_raw(at, data.wrapping_add(6), 5) };
        // SAFETY: as above.
        assert_eq!(unsafe { text_read(at) }, "world");
        // SAFETY: as above.
        unsafe { text_destroy(at) };
    }

    #[test]
    fn a_text_of_one_byte_a_character_has_as_many_bytes() {
        let (mut one, mut two) = (TextRaw::EMPTY, TextRaw::EMPTY);
        let (at, other) = (&raw mut one, &raw mut two);
        // SAFETY: `at` is a text of this test.
        unsafe { ansi_assign(at, "grüße ÿ") };
        // SAFETY: `other` is a text of this test.
        unsafe { text_assign(other, "grüße ÿ") };
        // SAFETY: as above.
        assert_eq!((unsafe { ansi_read(at) }.as_str(), one.len, two.len), ("grüße ÿ", 7, 10));
        // SAFETY: both are texts of this test.
        assert!(!unsafe { text_equal(at, other) });
        // SAFETY: `at` is a text of this test.
        unsafe { text_destroy(at) };
        // SAFETY: `other` is a text of this test.
        unsafe { text_destroy(other) };
    }
}
