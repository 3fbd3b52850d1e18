//! Enums that a host declares as Rust types. This file converts their values.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::describe::EnumDesc;
use alcedo_abi::enums::{self, EnumNumbers};
use alcedo_base::boundary::CallError;

use crate::enums::{EnumType, number_of, whole};
use crate::property::{PropertyType, with_parts};
use crate::typed::OfKind;
use crate::values::InMemory;
use crate::values::enumeration::Enum;
use crate::values::ptr::{Mut, Ref};

/// Rust type for an enum that the host declares. Each value of the Rust type is a value of the enum. `#[uenum]` of `alcedo_runtime::native`
/// implements this trait.
///
/// If an implementation returns a number that the reflected enum does not have, the number is not written.
pub trait NativeEnumeration: Copy + 'static {
    /// Path, such as `/Script/Package.Name`.
    const PATH: &'static str;
    /// Names and numbers of the entries, in order of declaration. Each number is sign-extended to 64 bits.
    const ENTRIES: EnumNumbers;
    /// Description, with a fingerprint that equals the fingerprint of the [`EnumType`].
    const DESC: &'static EnumDesc;

    /// Returns the number of this value.
    fn number(self) -> i128;
    /// Returns the value with the number `number`. Returns `None` if no entry of this Rust type has this number.
    fn of_number(number: i128) -> Option<Self>;
}

/// Number of a value of enum `E`, as read from or written to memory.
#[derive(Debug)]
pub struct NumberOf<E>(i128, PhantomData<E>);

impl<E: NativeEnumeration> NumberOf<E> {
    /// Returns the number of this value.
    pub fn new(value: E) -> Self {
        Self(value.number(), PhantomData)
    }

    /// Converts the number to a value of the enum.
    ///
    /// # Errors
    /// Fails if the number has no entry, for example after a C function wrote the number.
    pub fn entry(self) -> Result<E, CallError> {
        let unknown = || {
            let names: Vec<_> = E::ENTRIES.iter().map(|(name, _)| *name).collect();
            CallError::other(format!("{} is not an entry of {}: {}", self.0, E::PATH, names.join(", ")))
        };
        E::of_number(self.0).ok_or_else(unknown)
    }
}

impl<E> PartialEq for NumberOf<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<E> Eq for NumberOf<E> {}

impl<E> Hash for NumberOf<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<E: NativeEnumeration> OfKind for NumberOf<E> {
    type Kind = Enum;

    fn of(ty: &PropertyType) -> Option<&Rc<EnumType>> {
        Enum::carried(ty).filter(|of| *of.path == *E::PATH && of.fingerprint() == E::DESC.fingerprint)
    }

    fn describe() -> Cow<'static, str> {
        let signed = |number| enums::signed(E::DESC.underlying, number);
        with_parts(E::PATH, E::ENTRIES.iter().map(|(name, number)| format!("{name} = {}", signed(*number)))).into()
    }

    #[inline]
    fn load(at: Ref<'_, Enum>) -> Self {
        Self(whole(&at.number().read()).unwrap_or_default(), PhantomData)
    }

    #[inline]
    fn store(self, at: Mut<'_, Enum>) {
        if let Some(number) = number_of(at.of().underlying_kind(), self.0).filter(|_| at.of().has(self.0)) {
            at.number().put(&number);
        }
    }
}
