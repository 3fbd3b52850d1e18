//! Converts numbers in host memory into values of `#[uenum]` enums. A number without a variant is an error.

use core::fmt::Display;

use alcedo_abi::call::FailureKind;
use alcedo_abi::enums;
use alcedo_abi::kinds::PropertyKind;
use alcedo_rt::CallError;

use crate::kinds::{Ptr, PtrMut};
use crate::value::Value;

mod sealed {
    pub trait Sealed {}
}

/// Underlying type of an enum: one of the eight integer types.
pub trait Underlying: sealed::Sealed + Value + Copy + Display {}

macro_rules! underlying {
    ($($rust:ty),*) => {$(
        impl sealed::Sealed for $rust {}
        impl Underlying for $rust {}
    )*};
}
underlying!(u8, u16, u32, u64, i8, i16, i32, i64);

/// Type whose default is written as a string in the attribute, although its Rust values are not strings.
#[diagnostic::on_unimplemented(
    message = "a default of `{Self}` cannot be a string in Rust",
    note = "a field of a `#[ustruct(pod)]` has a number, `true`, `false`, an entry of an enum or `(x = 1.0)` as its default"
)]
pub trait OfText: Value {
    /// Parses a value from its default string.
    fn of_text(text: &str) -> Self;
}

/// Returns the number of an entry. For several entries, separated by `|`, returns the combined number.
///
/// # Panics
/// Panics if an entry is unknown.
#[must_use]
pub fn entry_number<E: Value>(text: &str, numbers: &[(&str, u64)]) -> u64 {
    enums::entry_number(E::TYPE_PATH, text, numbers)
}

/// Returns the underlying type of an enum, with `true` if all numbers of the enum fit in a byte.
#[must_use]
pub const fn numbers<N: Underlying>(numbers: &[(&str, u64)]) -> Option<(PropertyKind, bool)> {
    Some((N::KIND, enums::fit_a_byte(numbers)))
}

/// Returns true if scripts support a property of this type. If the type is an enum, its numbers must be `u8`, or the property must have
/// the specifier `enum_as_byte`.
#[must_use]
pub const fn scripts_have<T: Value>(as_byte: bool) -> bool {
    match T::NUMBERS {
        Some((kind, _)) => as_byte || kind.0 == PropertyKind::U8.0,
        None => true,
    }
}

/// Returns true if the type is an enum, and if all numbers of the enum fit in a byte.
#[must_use]
pub const fn fits_a_byte<T: Value>() -> bool {
    matches!(T::NUMBERS, Some((_, true)))
}

/// Returns the number that an enum value has in host memory.
#[inline]
#[must_use]
pub fn enum_number<E: Value>(from: Ptr<'_, E>) -> E::Raw
where
    E::Raw: Underlying,
{
    from.read()
}

/// Overwrites the number of an enum value in host memory.
#[inline]
pub fn put_enum_number<E: Value>(target: PtrMut<'_, E>, number: E::Raw)
where
    E::Raw: Underlying,
{
    const { assert!(E::KIND.0 == PropertyKind::ENUM.0, "a number of an enum") };
    target.write(number);
}

/// Creates the error for a number that is not a variant of the Rust enum.
#[cold]
#[must_use]
pub fn unknown_entry<E: Value>(number: impl Display) -> CallError {
    CallError::new(
        FailureKind::SIGNATURE,
        format!(
            "{number} is not an entry of {} as this module was built: rebuild it with the current declaration of the enum",
            E::TYPE_PATH
        ),
    )
}
