//! Strings in host memory. Each read or write of a property of type `String` copies the string, whereas the string types of this Rust
//! module are accessed in place.

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::{LocalTextRaw, TextRaw};
use alcedo_rt::{CallError, fail};

use super::into_host::owned;
use super::kind;
use super::ptr::PtrMut;
use super::verbs;
use crate::host::lending::{self, Access};
use crate::{Borrowed, UName, Value};

kind! {
    /// UTF-8 string in host memory, which the plugin accesses in place, without copies. For the host, a property of this type is a `String`
    /// property.
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
    /// UTF-8 string whose type is distinct from the type of `UString` in the host's reflection.
    ///
    /// # Examples
    /// ```
    /// use alcedo_plugin_api::prelude::*;
    ///
    /// /// Plugin part of a sign with a text.
    /// struct Sign {
    ///     label: UUtf8String,
    /// }
    ///
    /// fn rename(sign: &Sign, this: This<'_, Object>) {
    ///     let label = this.open(&sign.label);
    ///     label.set("café");
    ///     assert_eq!(label.len(), 5, "the length is in bytes");
    /// }
    /// ```
    UUtf8String<>, raw: TextRaw, kind: UTF8_STRING, path: "", literal: &'static str, pointer, plain: utf8
}

kind! {
    /// ISO 8859-1 string with one byte per character. Writing a character outside this encoding is an error.
    ///
    /// # Examples
    /// ```
    /// use alcedo_plugin_api::prelude::*;
    ///
    /// fn set_code(code: &Borrowed<'_, UAnsiString>, text: &str) -> Result<(), CallError> {
    ///     // Fails for characters outside of ISO 8859-1, such as `€`.
    ///     code.try_set(text)?;
    ///     assert_eq!(code.len(), text.chars().count());
    ///     Ok(())
    /// }
    /// ```
    UAnsiString<>, raw: TextRaw, kind: ANSI_STRING, path: "", literal: &'static str, pointer, plain: latin
}

kind! {
    /// Localized text: a visible string, and the namespace and key of its translation. `Display` formats only the visible string, whereas a
    /// clone also copies the namespace and the key.
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
    UText<>, raw: LocalTextRaw, kind: TEXT, path: "", literal: &'static str, pointer, plain: display
}

/// Type of values that can be set from a string.
pub(super) trait PutText: Value {
    fn put_text(text: &str, target: PtrMut<'_, Self>) -> Result<(), CallError>;
}

macro_rules! put_utf8 {
    ($($name:ty),*) => {$(
        impl PutText for $name {
            fn put_text(text: &str, target: PtrMut<'_, Self>) -> Result<(), CallError> {
                target.write_text(text)
            }
        }
    )*};
}
put_utf8!(String, UString, UUtf8String);

impl PutText for UAnsiString {
    fn put_text(text: &str, target: PtrMut<'_, Self>) -> Result<(), CallError> {
        let bytes = to_latin(text)?;
        verbs::ansi_assign(&target.into_location(ObjectHandle::NONE)?, &bytes)
    }
}

/// Encodes a string as ISO 8859-1, with one byte per character.
fn to_latin(text: &str) -> Result<Vec<u8>, CallError> {
    let byte = |letter: char| {
        u8::try_from(u32::from(letter)).map_err(|_too_wide| {
            CallError::other(format!("{letter:?} is not a one-byte character: a UAnsiString cannot hold {text:?}"))
        })
    };
    text.chars().map(byte).collect()
}

impl PutText for UText {
    fn put_text(text: &str, target: PtrMut<'_, Self>) -> Result<(), CallError> {
        target.again().into_display().write_text(text)?;
        target.write_names(Name(0), Name(0));
        Ok(())
    }
}

macro_rules! texts {
    ($($name:ident $read:ident;)*) => {$(
        impl $name {
            /// Creates an owned value from a string.
            ///
            /// # Errors
            /// See [`Self::new`]. Also fails with `OTHER` for a character that this kind cannot contain.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            #[doc = concat!("let error = ", stringify!($name), "::of(\"hello\").expect_err(\"a test of a plugin has no host\");")]
            /// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
            /// ```
            #[track_caller]
            pub fn of(text: &str) -> Result<Self, CallError> {
                owned(text)
            }
        }

        impl From<&str> for $name {
            /// Calls `of`. If an error occurs, the running call fails.
            #[track_caller]
            fn from(text: &str) -> Self {
                Self::of(text).unwrap_or_else(|error| fail(error))
            }
        }

        impl From<String> for $name {
            /// Calls `of`. If an error occurs, the running call fails.
            #[track_caller]
            fn from(text: String) -> Self {
                Self::from(text.as_str())
            }
        }

        impl From<&Borrowed<'_, $name>> for String {
            fn from(text: &Borrowed<'_, $name>) -> Self {
                text.text()
            }
        }

        impl PartialEq<str> for Borrowed<'_, $name> {
            fn eq(&self, other: &str) -> bool {
                self.text() == other
            }
        }

        impl PartialEq<&str> for Borrowed<'_, $name> {
            fn eq(&self, other: &&str) -> bool {
                self.text() == *other
            }
        }

        impl Borrowed<'_, $name> {
            /// Returns a copy of the string.
            #[must_use]
            pub fn text(&self) -> String {
                self.try_text().unwrap_or_else(|error| fail(error))
            }

            /// Returns a copy of the string.
            ///
            /// # Errors
            /// Fails with `EXPIRED` if the value no longer exists.
            pub fn try_text(&self) -> Result<String, CallError> {
                let text = self.ptr()?;
                lending::allows(Access::Read, "reading a text")?;
                Ok(text.$read())
            }

            /// Overwrites the string. For a [`UText`], also clears namespace and key.
            pub fn set(&self, text: &str) {
                self.try_set(text).unwrap_or_else(|error| fail(error));
            }

            /// Overwrites the string. For a [`UText`], also clears namespace and key.
            ///
            /// # Errors
            /// Fails with `EXPIRED` if the value no longer exists, with `DURING_REBUILD` while the host refuses writes to its owner, or
            /// with `OTHER` for a character that this kind cannot contain.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            #[doc = concat!("fn rename(title: &Borrowed<'_, ", stringify!($name), ">, name: &str) {")]
            ///     if let Err(error) = title.try_set(name) {
            ///         eprintln!("the title is still {title}: {error}");
            ///     }
            /// }
            /// ```
            pub fn try_set(&self, text: &str) -> Result<(), CallError> {
                PutText::put_text(text, self.ptr_mut()?)
            }

            /// Returns `true` if the string is empty.
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
    UText display;
}

macro_rules! appends {
    ($($name:ident),*) => {$(
        impl Borrowed<'_, $name> {
            /// Appends a string.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            ///
            /// fn log(lines: &Borrowed<'_, UString>, line: &str) {
            ///     if !lines.is_empty() {
            ///         lines.push_str("\n");
            ///     }
            ///     lines.push_str(line);
            /// }
            /// ```
            pub fn push_str(&self, more: &str) {
                self.set(&(self.text() + more));
            }

            /// Returns the length of the string in bytes.
            #[must_use]
            pub fn len(&self) -> usize {
                self.ptr().unwrap_or_else(|error| fail(error)).view().len
            }
        }
    )*};
}
appends!(UString, UUtf8String, UAnsiString);

impl Borrowed<'_, UText> {
    /// Returns the namespace of the translation key, or the empty name if the text is not localized.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn address(this: This<'_, Object>, label: &Borrowed<'_, UText>) -> String {
    ///     format!("{}.{}", label.namespace().text(&this), label.key().text(&this))
    /// }
    /// ```
    #[must_use]
    pub fn namespace(&self) -> UName {
        UName(self.ptr().unwrap_or_else(|error| fail(error)).read().namespace)
    }

    /// Returns the translation key, unique in its namespace, or the empty name if the text is not localized.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn is_localized(label: &Borrowed<'_, UText>) -> bool {
    ///     !label.key().is_none()
    /// }
    /// ```
    #[must_use]
    pub fn key(&self) -> UName {
        UName(self.ptr().unwrap_or_else(|error| fail(error)).read().key)
    }

    /// Overwrites the visible string, the namespace and the key.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn translate(this: This<'_, Object>, label: &Borrowed<'_, UText>) -> Result<(), CallError> {
    ///     let (namespace, key) = (UName::of(&this, "menu")?, UName::of(&this, "quit")?);
    ///     label.set_localized(namespace, key, "Quit");
    ///     assert_eq!(label.text(), "Quit");
    ///     Ok(())
    /// }
    /// ```
    pub fn set_localized(&self, namespace: UName, key: UName, text: &str) {
        self.set(text);
        self.ptr_mut().unwrap_or_else(|error| fail(error)).write_names(namespace.0, key.0);
    }
}

#[cfg(test)]
mod tests {
    use super::to_latin;

    #[test]
    fn strings_with_wide_characters_are_rejected_as_latin() {
        assert_eq!(to_latin("caf\u{e9}").expect("latin"), b"caf\xe9");
        assert!(to_latin("\u{20ac}").expect_err("no latin").to_string().contains("UAnsiString"));
    }
}
