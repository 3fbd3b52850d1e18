//! Enums as `#[uenum]` writes them: numbers of the host, each of which is a value of the Rust type or an error.

use core::fmt::Display;

use alcedo_abi::call::FailureKind;
use alcedo_abi::kinds::PropertyKind;
use alcedo_rt::CallError;

use crate::kinds::{Ptr, PtrMut};
use crate::value::Value;

mod sealed {
    pub trait Sealed {}
}

/// What the numbers of an enum may be: whole numbers of eight types.
pub trait Underlying: sealed::Sealed + Value + Copy + Display {}

macro_rules! underlying {
    ($($rust:ty),*) => {$(
        impl sealed::Sealed for $rust {}
        impl Underlying for $rust {}
    )*};
}
underlying!(u8, u16, u32, u64, i8, i16, i32, i64);

/// The number that lies there.
#[inline]
#[must_use]
pub fn enum_number<E: Value>(from: Ptr<'_, E>) -> E::Raw
where
    E::Raw: Underlying,
{
    from.read()
}

/// Overwrites the number that lies there.
#[inline]
pub fn put_enum_number<E: Value>(target: PtrMut<'_, E>, number: E::Raw)
where
    E::Raw: Underlying,
{
    const { assert!(E::KIND.0 == PropertyKind::ENUM.0, "a number of an enum") };
    target.write(number);
}

/// A number that is no value of the Rust type.
#[cold]
#[must_use]
pub fn unknown_entry<E: Value>(number: impl Display) -> CallError {
    CallError::new(
        FailureKind::SIGNATURE,
        format!(
            "{number} is no entry of {} as this module was built for it: build it with the enum as it is declared now",
            E::TYPE_PATH
        ),
    )
}
