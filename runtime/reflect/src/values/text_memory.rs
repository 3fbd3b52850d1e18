//! The bytes of texts: they belong to the host, and are copied in and out.
#![expect(unsafe_code, reason = "texts lie in raw memory that plugins read too")]

use std::alloc::{Layout, handle_alloc_error};
use std::hash::Hasher;

use alcedo_abi::value::{LocalTextRaw, TextRaw};
use alcedo_base::handles::Name;

use super::Kind;
use super::ptr::{Begins, Mut, Ref};
use crate::block;

/// Shows `look` the bytes of a text.
fn with_bytes<K: Kind<Raw: Begins<TextRaw>>, T>(at: Ref<'_, K>, look: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: the pointer was promised a value that begins with a text, by the promise of `Begins`, and that is not
    // written while it is used, which is until `look` is done. Only `text_assign_raw` gives a text a length, and then
    // so many bytes are there.
    let bytes = unsafe {
        let text = at.at().cast::<TextRaw>().read();
        if text.len == 0 { &[] } else { std::slice::from_raw_parts(text.data, text.len) }
    };
    look(bytes)
}

/// A copy of a UTF-8 text.
pub(crate) fn text_read<K: Kind<Raw: Begins<TextRaw>>>(at: Ref<'_, K>) -> String {
    let bytes = with_bytes(at, <[u8]>::to_vec);
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A copy of a text that has one byte a character.
pub(crate) fn ansi_read<K: Kind<Raw: Begins<TextRaw>>>(at: Ref<'_, K>) -> String {
    with_bytes(at, |bytes| bytes.iter().copied().map(char::from).collect())
}

/// Whether two texts have the same bytes.
pub(crate) fn text_equal<K: Kind<Raw: Begins<TextRaw>>>(one: Ref<'_, K>, two: Ref<'_, K>) -> bool {
    with_bytes(one, |one| with_bytes(two, |two| one == two))
}

/// Feeds a text to `hasher`.
pub(crate) fn text_hash<K: Kind<Raw: Begins<TextRaw>>>(at: Ref<'_, K>, hasher: &mut dyn Hasher) {
    with_bytes(at, |bytes| {
        hasher.write_usize(bytes.len()); // so that the boundary between two texts in a row counts
        hasher.write(bytes);
    });
}

/// Overwrites a text with a copy of `text`.
pub(crate) fn text_assign<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>, text: &str) {
    assign(at, text.as_bytes());
}

/// Overwrites a text that has one byte a character with a copy of `text`. A letter that is not of ISO 8859-1 becomes a
/// question mark: see that there is none.
pub(crate) fn ansi_assign<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>, text: &str) {
    let bytes: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect();
    assign(at, &bytes);
}

/// Overwrites a text with the bytes of another.
pub(crate) fn text_copy<K: Kind<Raw: Begins<TextRaw>>>(to: &Mut<'_, K>, from: Ref<'_, K>) {
    with_bytes(from, |bytes| assign(to, bytes));
}

/// Frees a text's bytes and leaves the empty text.
pub(crate) fn text_destroy<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>) {
    assign(at, &[]);
}

/// Gives a text for people its two names.
pub(crate) fn set_names<K: Kind<Raw = LocalTextRaw>>(at: &Mut<'_, K>, namespace: Name, key: Name) {
    let at = at.at().cast::<LocalTextRaw>();
    // SAFETY: the pointer was promised such a text to write.
    unsafe {
        (*at).namespace = namespace;
        (*at).key = key;
    }
}

fn assign<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>, bytes: &[u8]) {
    // SAFETY: the pointer was promised a value to write that begins with a text, by the promise of `Begins`, which
    // nothing else reads meanwhile: so `bytes` does not lie in it.
    unsafe { text_assign_raw(at.at().cast(), bytes.as_ptr(), bytes.len()) };
}

/// Overwrites the text at `at` with a copy of the `len` bytes at `data`, which may lie in the text itself.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory that nothing else reads or writes meanwhile. `data` is readable for
/// `len` bytes, and no reference to those bytes is used again if they lie in the text.
pub unsafe fn text_assign_raw(at: *mut TextRaw, data: *const u8, len: usize) {
    // SAFETY: the caller promises the text.
    let old = unsafe { at.read() };
    if len != 0 && len <= old.capacity {
        // SAFETY: the caller promises the text to write, and that `data` is readable; that many bytes are reserved, and they may
        // overlap.
        unsafe {
            old.data.copy_from(data, len);
            at.write(TextRaw { len, ..old });
        }
        return;
    }
    let fresh = if len == 0 { TextRaw::EMPTY } else { reserve(len) };
    // SAFETY: the caller promises the text to write, and that `data` is readable; the new bytes are apart from all others. The
    // old ones were reserved by `reserve`, with this layout, and the text has just forgotten them.
    unsafe {
        fresh.data.copy_from_nonoverlapping(data, len);
        at.write(fresh);
        if old.capacity != 0 {
            block::give_back(old.data, layout(old.capacity));
        }
    }
}

/// A text of so many bytes, which are to be written.
fn reserve(len: usize) -> TextRaw {
    let layout = layout(len);
    let data = block::take(layout).unwrap_or_else(|| handle_alloc_error(layout)).as_ptr();
    TextRaw { data, len, capacity: len }
}

fn layout(len: usize) -> Layout {
    Layout::array::<u8>(len).expect("a text is shorter than half the address space")
}

#[cfg(test)]
mod tests {
    use super::super::text::Text;
    use super::{text_assign_raw, text_read};
    use crate::owned::OwnedValue;
    use crate::property::PropertyType;
    use crate::value::Value;

    #[test]
    fn a_text_grows_shrinks_and_may_be_a_part_of_itself() {
        let mut own = OwnedValue::zero(PropertyType::Text);
        for words in ["", "short", "a good deal longer than that", "x", "", "hello world"] {
            own.write(&Value::Text(words.to_owned())).unwrap();
            assert_eq!(text_read(own.as_ptr().to::<Text>().unwrap()), words);
        }
        let text = own.as_mut().to::<Text>().unwrap();
        let data = text.raw().data.cast_const();
        // SAFETY: the text of this test; the five bytes at 6 lie in it, and no reference to them exists.
        unsafe { text_assign_raw(text.at().cast(), data.wrapping_add(6), 5) };
        assert_eq!(own.read(), Value::Text("world".to_owned()));
    }

    #[test]
    fn a_text_of_one_byte_a_character_has_as_many_bytes() {
        let words = "grüße ÿ";
        let (mut one, mut two) = (OwnedValue::zero(PropertyType::AnsiText), OwnedValue::zero(PropertyType::Text));
        one.write(&Value::Ansi(words.to_owned())).unwrap();
        two.write(&Value::Text(words.to_owned())).unwrap();
        let lens = [one.as_ptr().to::<super::super::ansi_text::AnsiText>().unwrap().raw().len, {
            two.as_ptr().to::<Text>().unwrap().raw().len
        }];
        assert_eq!((one.read(), lens), (Value::Ansi(words.to_owned()), [7, 10]));
    }
}
