//! Memory of strings. The host owns the bytes, and copies the bytes on each read and write.
#![expect(unsafe_code, reason = "strings are in raw memory that plugins read too")]

use std::hash::Hasher;
use std::mem::ManuallyDrop;

use alcedo_abi::value::{LocalTextRaw, TextRaw};
use alcedo_base::handles::Name;

use super::Kind;
use super::ptr::{Begins, Mut, Ref};
use crate::block;
use crate::held;

fn with_bytes<K: Kind<Raw: Begins<TextRaw>>, T>(at: Ref<'_, K>, use_bytes: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: the creator of the pointer promised a value that is not written until `use_bytes` returns.
    // `Begins` promises that the value begins with a `TextRaw`. Only `text_assign_raw` sets a length, together with that many bytes.
    let bytes = unsafe {
        let text = at.at().cast::<TextRaw>().read();
        if text.len == 0 { &[] } else { std::slice::from_raw_parts(text.data, text.len) }
    };
    use_bytes(bytes)
}

/// Returns a copy of a UTF-8 string.
pub(crate) fn text_read<K: Kind<Raw: Begins<TextRaw>>>(at: Ref<'_, K>) -> String {
    let bytes = with_bytes(at, <[u8]>::to_vec);
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns a copy of a string with one byte per character.
pub(crate) fn ansi_read<K: Kind<Raw: Begins<TextRaw>>>(at: Ref<'_, K>) -> String {
    with_bytes(at, |bytes| bytes.iter().copied().map(char::from).collect())
}

pub(crate) fn text_equal<K: Kind<Raw: Begins<TextRaw>>>(one: Ref<'_, K>, two: Ref<'_, K>) -> bool {
    with_bytes(one, |one| with_bytes(two, |two| one == two))
}

pub(crate) fn text_hash<K: Kind<Raw: Begins<TextRaw>>>(at: Ref<'_, K>, hasher: &mut dyn Hasher) {
    with_bytes(at, |bytes| {
        hasher.write_usize(bytes.len()); // separates consecutive strings
        hasher.write(bytes);
    });
}

/// Overwrites a UTF-8 string with a copy of `text`. If `text` is empty, frees the bytes of the string.
pub(crate) fn text_assign<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>, text: &str) {
    assign(at, text.as_bytes());
}

/// Overwrites a string of one byte per character with a copy of `text`. Callers pass only characters of ISO 8859-1. Replaces all other
/// characters with question marks.
pub(crate) fn ansi_assign<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>, text: &str) {
    let bytes: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect();
    assign(at, &bytes);
}

pub(crate) fn text_copy<K: Kind<Raw: Begins<TextRaw>>>(to: &Mut<'_, K>, from: Ref<'_, K>) {
    with_bytes(from, |bytes| assign(to, bytes));
}

pub(crate) fn set_names<K: Kind<Raw = LocalTextRaw>>(at: &Mut<'_, K>, namespace: Name, key: Name) {
    let at = at.at().cast::<LocalTextRaw>();
    // SAFETY: the creator of the pointer promised a writable `LocalTextRaw`.
    unsafe {
        (*at).namespace = namespace;
        (*at).key = key;
    }
}

fn assign<K: Kind<Raw: Begins<TextRaw>>>(at: &Mut<'_, K>, bytes: &[u8]) {
    // SAFETY: the creator of the pointer promised a writable value without other readers during this borrow.
    // `bytes` therefore does not overlap the value. `Begins` promises that the value begins with a `TextRaw`.
    unsafe { text_assign_raw(at.at().cast(), bytes.as_ptr(), bytes.len()) };
}

/// Overwrites the string at `at` with a copy of the `len` bytes at `data`. `data` may point into the string at `at`.
///
/// # Safety
/// `at` is an aligned [`TextRaw`] in host memory without other readers or writers during the call. `data` is readable for `len` bytes. If
/// these bytes are inside the string, no Rust reference to them is used again.
pub unsafe fn text_assign_raw(at: *mut TextRaw, data: *const u8, len: usize) {
    // SAFETY: the caller promises a readable and writable string, and that `data` is readable.
    // If the capacity suffices, the bytes are copied by a method that allows overlap. Otherwise the new bytes are a separate allocation.
    // The old bytes, which `reserve` allocated as a `Vec`, are freed after the string no longer refers to them.
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

/// Allocates a string of `len` bytes. The caller must write all bytes.
fn reserve(len: usize) -> TextRaw {
    let mut bytes = ManuallyDrop::new(Vec::with_capacity(len));
    block::count(1);
    held::more(bytes.capacity());
    TextRaw { data: bytes.as_mut_ptr(), len, capacity: bytes.capacity() }
}

#[cfg(test)]
mod tests;
