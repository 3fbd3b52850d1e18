//! The bytes of texts: they belong to the host, and are copied in and out.
#![expect(unsafe_code, reason = "texts lie in raw memory that plugins read too")]

use std::hash::Hasher;
use std::mem::ManuallyDrop;

use alcedo_abi::value::{LocalTextRaw, TextRaw};
use alcedo_base::handles::Name;

use super::Kind;
use super::ptr::{Begins, Mut, Ref};
use crate::block;
use crate::held;

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
    // SAFETY: the caller promises the text to read and write, and that `data` is readable. Where as many bytes are reserved, the
    // two may overlap; else the new bytes are apart from all others, and the old ones, which `reserve` made of such a list, are
    // freed when the text has forgotten them.
    unsafe {
        let old = at.read();
        if len != 0 && len <= old.capacity {
            old.data.copy_from(data, len);
            at.write(TextRaw { len, ..old });
            return;
        }
        let fresh = if len == 0 { TextRaw::EMPTY } else { reserve(len) };
        fresh.data.copy_from_nonoverlapping(data, len);
        at.write(fresh);
        if old.capacity != 0 {
            block::count(-1);
            held::less(old.capacity);
            drop(Vec::from_raw_parts(old.data, 0, old.capacity));
        }
    }
}

/// A text of so many bytes, which are to be written.
fn reserve(len: usize) -> TextRaw {
    let mut bytes = ManuallyDrop::new(Vec::with_capacity(len));
    block::count(1);
    held::more(bytes.capacity());
    TextRaw { data: bytes.as_mut_ptr(), len, capacity: bytes.capacity() }
}

#[cfg(test)]
mod tests;
