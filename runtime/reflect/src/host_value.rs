//! Rust types with which a host reads and writes values. Native declarations accept only types that implement
//! [`NativeValue`](crate::native_value::NativeValue), because a declaration needs more information than an access. For example, the
//! declaration of a soft reference needs a class.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::typed::{FrameValue, PlainField};
use crate::value::LocalText;

/// Rust type with which a host reads and writes values. These types are numbers, `bool`, strings, names, references, enums and structs, and
/// `Vec`, `Option`, `HashSet` and `HashMap` of these types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no form in reflection",
    label = "reflection does not support this Rust type",
    note = "supported types: numbers, `bool`, `String`, `Name`, `Obj<Class>`, enums of `#[uenum]`, structs of `#[ustruct]`, and `Vec`, \
            `Option`, `HashSet` and `HashMap` of these"
)]
pub trait HostValue: Sized + 'static {
    /// Type of the value in frames and in property memory.
    type Raw: FrameValue;

    /// Converts a value that was read from its raw form.
    fn from_raw(raw: Self::Raw) -> Self;
    /// Converts a value to its raw form for writing.
    fn into_raw(self) -> Self::Raw;
}

macro_rules! as_they_are {
    ($($({ $($bound:tt)* })? $rust:ty),*) => {$(
        impl<$($($bound)*)?> $crate::host_value::HostValue for $rust {
            type Raw = Self;

            #[inline]
            fn from_raw(raw: Self) -> Self {
                raw
            }

            #[inline]
            fn into_raw(self) -> Self {
                self
            }
        }
    )*};
}
pub(crate) use as_they_are;
as_they_are! { { T: PlainField + FrameValue } T, bool, String, LocalText }

impl<T: HostValue> HostValue for Vec<T>
where
    Vec<T::Raw>: FrameValue,
{
    type Raw = Vec<T::Raw>;

    fn from_raw(raw: Self::Raw) -> Self {
        raw.into_iter().map(T::from_raw).collect()
    }

    fn into_raw(self) -> Self::Raw {
        self.into_iter().map(T::into_raw).collect()
    }
}

impl<T: HostValue> HostValue for Option<T>
where
    Option<T::Raw>: FrameValue,
{
    type Raw = Option<T::Raw>;

    fn from_raw(raw: Self::Raw) -> Self {
        raw.map(T::from_raw)
    }

    fn into_raw(self) -> Self::Raw {
        self.map(T::into_raw)
    }
}

impl<T: HostValue + Eq + Hash> HostValue for HashSet<T>
where
    T::Raw: Eq + Hash,
    HashSet<T::Raw>: FrameValue,
{
    type Raw = HashSet<T::Raw>;

    fn from_raw(raw: Self::Raw) -> Self {
        raw.into_iter().map(T::from_raw).collect()
    }

    fn into_raw(self) -> Self::Raw {
        self.into_iter().map(T::into_raw).collect()
    }
}

impl<K: HostValue + Eq + Hash, V: HostValue> HostValue for HashMap<K, V>
where
    K::Raw: Eq + Hash,
    HashMap<K::Raw, V::Raw>: FrameValue,
{
    type Raw = HashMap<K::Raw, V::Raw>;

    fn from_raw(raw: Self::Raw) -> Self {
        raw.into_iter().map(|(key, value)| (K::from_raw(key), V::from_raw(value))).collect()
    }

    fn into_raw(self) -> Self::Raw {
        self.into_iter().map(|(key, value)| (key.into_raw(), value.into_raw())).collect()
    }
}
