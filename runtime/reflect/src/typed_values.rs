//! The kinds that have no Rust type of their own meaning, as Rust types: so that host code says which of several texts,
//! names or handles it means. Each is copied in and out.
#![expect(unsafe_code, reason = "typed reads and writes of raw property memory")]

use std::borrow::Cow;

use alcedo_abi::value::{DelegateRaw, LazyRaw};
use alcedo_base::handles::{Name, ObjectHandle};

use crate::property::PropertyType;
use crate::text_memory;
use crate::transfer;
use crate::typed::FrameValue;
use crate::value::{Binding, LocalText, Value, is_latin_1};

/// Text that is kept apart from `String`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Utf8String(pub String);

/// Text of ISO 8859-1 letters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct AnsiString(String);

impl AnsiString {
    /// The text, if all its letters are of ISO 8859-1.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        is_latin_1(&text).then_some(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

// SAFETY: a property of this kind is a text; it is copied in and out.
unsafe impl FrameValue for Utf8String {
    fn matches(ty: &PropertyType) -> bool {
        matches!(ty, PropertyType::Utf8Text)
    }

    fn describe() -> Cow<'static, str> {
        "Utf8String".into()
    }

    unsafe fn load(at: *const u8, _ty: &PropertyType) -> Self {
        // SAFETY: the caller promises a text there.
        Self(unsafe { text_memory::text_read(at.cast()) })
    }

    unsafe fn store(self, at: *mut u8, _ty: &PropertyType) {
        // SAFETY: the caller promises a text there; `self` is a text of its own.
        unsafe { text_memory::text_assign(at.cast(), &self.0) };
    }
}

// SAFETY: a property of this kind is a text of one byte a character; it is copied in and out.
unsafe impl FrameValue for AnsiString {
    fn matches(ty: &PropertyType) -> bool {
        matches!(ty, PropertyType::AnsiText)
    }

    fn describe() -> Cow<'static, str> {
        "AnsiString".into()
    }

    unsafe fn load(at: *const u8, _ty: &PropertyType) -> Self {
        // SAFETY: the caller promises a text there.
        Self(unsafe { text_memory::ansi_read(at.cast()) })
    }

    unsafe fn store(self, at: *mut u8, _ty: &PropertyType) {
        // SAFETY: the caller promises a text there; `self` is a text of its own.
        unsafe { text_memory::ansi_assign(at.cast(), &self.0) };
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident($inner:ty) is $variant:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        pub struct $name(pub $inner);

        // SAFETY: a property of this kind is such a name, handle or id in memory.
        unsafe impl FrameValue for $name {
            fn matches(ty: &PropertyType) -> bool {
                matches!(ty, PropertyType::$variant { .. })
            }

            fn describe() -> Cow<'static, str> {
                stringify!($name).into()
            }

            unsafe fn load(at: *const u8, _ty: &PropertyType) -> Self {
                // SAFETY: the caller promises such a value there.
                Self(unsafe { at.cast::<$inner>().read() })
            }

            unsafe fn store(self, at: *mut u8, _ty: &PropertyType) {
                // SAFETY: the caller promises a place for such a value.
                unsafe { at.cast::<$inner>().write(self.0) };
            }
        }
    )*};
}
words! {
    /// The name of the path of a class.
    SubclassOf(Name) is SubclassOf;
    /// The same, also while there is no such class.
    SoftClass(Name) is SoftClass;
    /// The name of the path of an object.
    SoftObject(Name) is SoftObject;
    /// The name of the path of a property.
    FieldPath(Name) is FieldPath;
    /// The id of an object.
    LazyObject(LazyRaw) is LazyObject;
    /// A reference that keeps nothing alive.
    WeakObject(ObjectHandle) is WeakObject;
    /// A reference to an object that implements an interface.
    ScriptInterface(ObjectHandle) is ScriptInterface;
}

// SAFETY: a property of this kind is such a delegate in memory.
unsafe impl FrameValue for Binding {
    fn matches(ty: &PropertyType) -> bool {
        matches!(ty, PropertyType::Delegate(_))
    }

    fn describe() -> Cow<'static, str> {
        "Delegate".into()
    }

    unsafe fn load(at: *const u8, _ty: &PropertyType) -> Self {
        // SAFETY: the caller promises a delegate there.
        unsafe { at.cast::<DelegateRaw>().read() }.into()
    }

    unsafe fn store(self, at: *mut u8, _ty: &PropertyType) {
        // SAFETY: the caller promises a place for a delegate.
        unsafe { at.cast::<DelegateRaw>().write(self.into()) };
    }
}

/// Delegates that are called one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MulticastDelegate(pub Vec<Binding>);

/// The same where there mostly is none.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SparseDelegate(pub Vec<Binding>);

macro_rules! by_value {
    ($($rust:ty, $kind:literal: $ty:pat, $inner:ident, $value:pat => $back:expr, $to:expr;)*) => {$(
        // SAFETY: the value goes through `transfer`, which is given the type that matches.
        unsafe impl FrameValue for $rust {
            fn matches(ty: &PropertyType) -> bool {
                matches!(ty, $ty)
            }

            fn describe() -> Cow<'static, str> {
                $kind.into()
            }

            unsafe fn load(at: *const u8, ty: &PropertyType) -> Self {
                // SAFETY: the caller promises a value of the type there.
                match unsafe { transfer::read(at, ty) } {
                    $value => $back,
                    other => unreachable!("a {} was read as {other:?}", $kind),
                }
            }

            unsafe fn store(self, at: *mut u8, ty: &PropertyType) {
                let $inner = self;
                // SAFETY: the caller promises a value of the type there.
                let written = unsafe { transfer::write(at, ty, &$to) };
                written.expect("the type matches");
            }
        }
    )*};
}
by_value! {
    LocalText, "Text": PropertyType::LocalText, own, Value::LocalText(text) => text, Value::LocalText(own);
    MulticastDelegate, "MulticastDelegate": PropertyType::MulticastDelegate(_), own,
        Value::Multicast(list) => Self(list), Value::Multicast(own.0);
    SparseDelegate, "SparseDelegate": PropertyType::SparseDelegate(_), own,
        Value::Sparse(list) => Self(list), Value::Sparse(own.0);
}
