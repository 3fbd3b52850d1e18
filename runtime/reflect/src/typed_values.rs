//! Rust types for kinds that have no Rust type of their own in the standard library. With these types, host code selects one of several
//! string, name or handle kinds. Values are copied on each access.

use crate::host_value::as_they_are;
use crate::typed::{OfKind, by_kind};
use crate::value::{Binding, LocalText, is_latin_1};
use crate::values::ansi_text::AnsiText;
use crate::values::delegate::Delegate;
use crate::values::local_text::LocalTextKind;
use crate::values::multicast::Multicast;
use crate::values::ptr::{Mut, Ref};
use crate::values::sparse::Sparse;
use crate::values::{Kind as _, text};

/// UTF-8 string of the kind `Utf8String`. This kind is distinct from the kind `String`.
///
/// # Examples
/// ```
/// use alcedo_reflect::typed_values::Utf8String;
///
/// let chat = Utf8String("日本".into());
/// assert_eq!(chat.0.chars().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Utf8String(pub String);

/// String of ISO 8859-1 characters.
///
/// # Examples
/// ```
/// use alcedo_reflect::typed_values::AnsiString;
///
/// let name = AnsiString::new("Café").expect("ISO 8859-1");
/// assert_eq!(name.as_str(), "Café");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct AnsiString(String);

impl AnsiString {
    /// Creates the string. Returns `None` if a character is not in ISO 8859-1.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::typed_values::AnsiString;
    ///
    /// assert!(AnsiString::new("Café").is_some());
    /// assert!(AnsiString::new("日本").is_none());
    /// ```
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        is_latin_1(&text).then_some(Self(text))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! wrappers {
    ($($name:ident is $kind:ty;)*) => {$(
        impl OfKind for $name {
            type Kind = $kind;

            #[inline]
            fn load(at: Ref<'_, $kind>) -> Self {
                Self(<$kind>::read(at))
            }

            #[inline]
            fn store(self, at: Mut<'_, $kind>) {
                <$kind>::write(at, &self.0);
            }
        }
    )*};
}
wrappers! {
    Utf8String is text::Utf8Text;
    AnsiString is AnsiText;
    MulticastDelegate is Multicast;
    SparseDelegate is Sparse;
}
by_kind! {
    LocalText => LocalTextKind;
    Binding => Delegate;
}

as_they_are! { AnsiString, Utf8String }

/// Types for the kinds whose values are a single machine word or id. The types are generated from the list of kinds.
pub mod words {
    use alcedo_abi::value::LazyRaw;
    use alcedo_base::handles::{Name, ObjectHandle};

    use crate::host_value::as_they_are;
    use crate::kind_list::each_kind;
    use crate::typed::OfKind;
    use crate::values::Kind as _;
    use crate::values::ptr::{Mut, Ref};

    macro_rules! words {
        (
            ()
            $(
                $(#[doc = $doc:literal])*
                $(#[cfg($cfg:meta)])?
                $ty:ident [$($decl:tt)*] ($($field:tt)?) => $value:ident ($content:ty), $($path:ident)::+ $(, $word:ident)?;
            )*
        ) => {
            $(word! { [$($word)?] [$crate::values::$($path)::+] $(#[doc = $doc])* $value($content) })*
        };
    }

    macro_rules! word {
        ([] $($other:tt)*) => {};
        ([word] [$kind:ty] $(#[$doc:meta])* $name:ident($inner:ty)) => {
            $(#[$doc])*
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use alcedo_reflect::typed_values::words::", stringify!($name), ";")]
            /// // The default refers to nothing.
            #[doc = concat!("let target = ", stringify!($name), "::default();")]
            #[doc = concat!("assert_eq!(target, ", stringify!($name), "(Default::default()));")]
            /// ```
            #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
            pub struct $name(pub $inner);

            wrappers! { $name is $kind; }
            as_they_are! { $name }
        };
    }

    each_kind! { [words] () }
}

/// Multicast delegate: a list of bindings, in the order of their calls.
///
/// # Examples
/// ```
/// use alcedo_base::handles::{Name, ObjectHandle};
/// use alcedo_reflect::typed_values::MulticastDelegate;
/// use alcedo_reflect::value::Binding;
///
/// let lamp = Binding { object: ObjectHandle::new(3, 1), function: Name(7) };
/// let mut pressed = MulticastDelegate::default();
/// pressed.0.push(lamp);
/// assert_eq!(pressed, MulticastDelegate(vec![lamp]));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct MulticastDelegate(pub Vec<Binding>);

/// Multicast delegate that needs little memory while the list of bindings is empty. Intended for delegates that usually have no bindings.
///
/// # Examples
/// ```
/// use alcedo_base::handles::{Name, ObjectHandle};
/// use alcedo_reflect::typed_values::SparseDelegate;
/// use alcedo_reflect::value::Binding;
///
/// let mut opened = SparseDelegate::default();
/// opened.0.push(Binding { object: ObjectHandle::new(3, 1), function: Name(7) });
/// assert_eq!(opened.0.len(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SparseDelegate(pub Vec<Binding>);
