//! Texts in host memory. `String` as a property is copied in and out; these are used where they lie.
#![expect(unsafe_code, reason = "follows addresses of texts in host memory")]

use core::marker::PhantomData;

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::{LocalTextRaw, TextRaw, TextView};
use alcedo_rt::{CallError, fail};

use super::into_host::owned;
use super::kind;
use crate::{Lent, UName, Value, host};

kind! {
    /// UTF-8 text in host memory: what `String` is as a property, but used where it lies.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { title: UString }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// let title = this.open(&self.title);
    /// title.set("a box");
    /// title.push_str(" of wood");
    /// # } }
    /// ```
    UString<>, raw: TextRaw, kind: STRING, path: "", literal: &'static str, text, plain: utf8
}

kind! {
    /// UTF-8 text, which the host's reflection tells apart from `UString`.
    UUtf8String<>, raw: TextRaw, kind: UTF8_STRING, path: "", literal: &'static str, pointer, plain: utf8
}

kind! {
    /// Text of one byte a character, ISO 8859-1. Anything else is refused.
    UAnsiString<>, raw: TextRaw, kind: ANSI_STRING, path: "", literal: &'static str, pointer, plain: latin
}

kind! {
    /// Text for people, with the key it is translated by. `Display` writes what people see; who wants the key as well
    /// copies the value, or asks for it.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { label: UText }
    /// # impl Part { fn show(&self, this: This<'_, Object>) -> Result<(), CallError> {
    /// let label = this.open(&self.label);
    /// label.set_localized(UName::of(&this, "menu")?, UName::of(&this, "quit")?, "Quit");
    /// # Ok(())
    /// # } }
    /// ```
    UText<>, raw: LocalTextRaw, kind: TEXT, path: "", literal: &'static str, pointer, plain: shown
}

/// The bytes of a text.
///
/// # Safety
/// `raw` is live, and not changed while the view is used.
pub(super) unsafe fn view(raw: *const TextRaw) -> TextView {
    // SAFETY: promised by the caller; copying its words takes no ownership.
    let TextRaw { data, len, .. } = unsafe { raw.read() };
    TextView { data, len }
}

/// A copy of UTF-8 text.
///
/// # Safety
/// `raw` is live.
unsafe fn utf8(raw: *const TextRaw) -> String {
    // SAFETY: promised by the caller.
    unsafe { String::load(raw) }
}

/// A copy of text of one byte a character.
///
/// # Safety
/// `raw` is live.
unsafe fn latin(raw: *const TextRaw) -> String {
    // SAFETY: promised by the caller.
    let TextView { data, len } = unsafe { view(raw) };
    if len == 0 {
        return String::new();
    }
    // SAFETY: a live text of the host has `len` readable bytes.
    let bytes = unsafe { core::slice::from_raw_parts(data, len) };
    bytes.iter().copied().map(char::from).collect()
}

/// A type that a text can be put into.
pub(super) trait PutText: Value {
    /// Overwrites it.
    ///
    /// # Safety
    /// `target` is a live value of the type that may be written.
    unsafe fn put_text(of: PhantomData<Self>, text: &str, target: *mut Self::Raw) -> Result<(), CallError>;
}

macro_rules! put_utf8 {
    ($($name:ty),*) => {$(
        impl PutText for $name {
            unsafe fn put_text(_of: PhantomData<Self>, text: &str, target: *mut TextRaw) -> Result<(), CallError> {
                // SAFETY: promised by the caller.
                unsafe { host::assign_text(target, text) }
            }
        }
    )*};
}
put_utf8!(String, UString, UUtf8String);

impl PutText for UAnsiString {
    unsafe fn put_text(_of: PhantomData<Self>, text: &str, target: *mut TextRaw) -> Result<(), CallError> {
        let bytes = to_latin(text)?;
        let place = host::values::place::<Self>(ObjectHandle::NONE, target)?;
        // SAFETY: promised by the caller.
        unsafe { host::values::ansi_assign(&place, &bytes) }
    }
}

/// A text of characters that all have one byte.
fn to_latin(text: &str) -> Result<Vec<u8>, CallError> {
    let byte = |letter: char| {
        u8::try_from(u32::from(letter)).map_err(|_too_wide| {
            CallError::other(format!("{letter:?} is no character of one byte: a UAnsiString cannot hold {text:?}"))
        })
    };
    text.chars().map(byte).collect()
}

impl PutText for UText {
    unsafe fn put_text(_of: PhantomData<Self>, text: &str, target: *mut LocalTextRaw) -> Result<(), CallError> {
        // SAFETY: promised by the caller; no reference is made, since the host changes it.
        let shown = unsafe { &raw mut (*target).shown };
        // SAFETY: a live text of a live value.
        unsafe { host::assign_text(shown, text) }?;
        // SAFETY: promised by the caller.
        unsafe { write_names(target, Name(0), Name(0)) };
        Ok(())
    }
}

/// # Safety
/// `target` is live and may be written.
unsafe fn write_names(target: *mut LocalTextRaw, namespace: Name, key: Name) {
    // SAFETY: promised by the caller.
    let at = unsafe { &raw mut (*target).namespace };
    // SAFETY: as above.
    unsafe { at.write(namespace) };
    // SAFETY: promised by the caller.
    let at = unsafe { &raw mut (*target).key };
    // SAFETY: as above.
    unsafe { at.write(key) };
}

macro_rules! texts {
    ($($name:ident $read:expr;)*) => {$(
        impl $name {
            /// A text, which plugin code owns.
            ///
            /// # Errors
            /// As [`Self::new`], and `OTHER` for a character that this kind cannot hold.
            #[track_caller]
            pub fn of(text: &str) -> Result<Self, CallError> {
                owned(text)
            }
        }

        impl From<&str> for $name {
            /// As `of`; the running call fails where that is refused.
            #[track_caller]
            fn from(text: &str) -> Self {
                Self::of(text).unwrap_or_else(|error| fail(error))
            }
        }

        impl From<String> for $name {
            /// As `of`; the running call fails where that is refused.
            #[track_caller]
            fn from(text: String) -> Self {
                Self::from(text.as_str())
            }
        }

        impl From<&Lent<'_, $name>> for String {
            fn from(text: &Lent<'_, $name>) -> Self {
                text.text()
            }
        }

        impl PartialEq<str> for Lent<'_, $name> {
            fn eq(&self, other: &str) -> bool {
                self.text() == other
            }
        }

        impl PartialEq<&str> for Lent<'_, $name> {
            fn eq(&self, other: &&str) -> bool {
                self.text() == *other
            }
        }

        impl Lent<'_, $name> {
            /// A copy of the text.
            #[must_use]
            pub fn text(&self) -> String {
                self.try_text().unwrap_or_else(|error| fail(error))
            }

            /// A copy of the text.
            ///
            /// # Errors
            /// `EXPIRED`.
            pub fn try_text(&self) -> Result<String, CallError> {
                let raw = self.raw()?;
                super::lending::allows(super::lending::Access::Read, "reading a text")?;
                // SAFETY: the text was looked at just now.
                Ok(unsafe { $read(raw) })
            }

            /// Overwrites the text.
            pub fn set(&self, text: &str) {
                self.try_set(text).unwrap_or_else(|error| fail(error));
            }

            /// Overwrites the text, or says why not.
            ///
            /// # Errors
            /// `EXPIRED`; `DURING_REBUILD`; `OTHER` for a character that this kind cannot hold.
            pub fn try_set(&self, text: &str) -> Result<(), CallError> {
                let target = self.raw_mut()?;
                // SAFETY: the text was looked at just now, and its owner may be written.
                unsafe { PutText::put_text(PhantomData::<$name>, text, target) }
            }

            /// Whether it is empty.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.text().is_empty()
            }
        }
    )*};
}
texts! {
    UString utf8;
    UUtf8String utf8;
    UAnsiString latin;
    UText shown;
}

/// # Safety
/// `raw` is live.
unsafe fn shown(raw: *const LocalTextRaw) -> String {
    // SAFETY: promised by the caller.
    let text = unsafe { &raw const (*raw).shown };
    // SAFETY: a live text of a live value.
    unsafe { utf8(text) }
}

macro_rules! appends {
    ($($name:ident),*) => {$(
        impl Lent<'_, $name> {
            /// Adds to the end of the text.
            pub fn push_str(&self, more: &str) {
                self.set(&(self.text() + more));
            }

            /// Bytes of the text.
            #[must_use]
            pub fn len(&self) -> usize {
                let raw = self.raw().unwrap_or_else(|error| fail(error));
                // SAFETY: the text was looked at just now.
                unsafe { view(raw) }.len
            }
        }
    )*};
}
appends!(UString, UUtf8String, UAnsiString);

impl Lent<'_, UText> {
    /// Which set of texts the key belongs to; the empty name when the text is not translated.
    #[must_use]
    pub fn namespace(&self) -> UName {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: the text was looked at just now.
        let name = unsafe { &raw const (*raw).namespace };
        // SAFETY: as above.
        UName(unsafe { name.read() })
    }

    /// What the text is looked up by in a translation; the empty name when it is not translated.
    #[must_use]
    pub fn key(&self) -> UName {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: the text was looked at just now.
        let name = unsafe { &raw const (*raw).key };
        // SAFETY: as above.
        UName(unsafe { name.read() })
    }

    /// Overwrites the text and what it is translated by.
    pub fn set_localized(&self, namespace: UName, key: UName, text: &str) {
        self.set(text);
        let target = self.raw_mut().unwrap_or_else(|error| fail(error));
        // SAFETY: the text was looked at just now, and its owner may be written.
        unsafe { write_names(target, namespace.0, key.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::to_latin;

    #[test]
    fn a_text_of_one_byte_a_character_is_told_from_others() {
        assert_eq!(to_latin("caf\u{e9}").expect("latin"), b"caf\xe9");
        assert!(to_latin("\u{20ac}").expect_err("no latin").to_string().contains("UAnsiString"));
    }
}
