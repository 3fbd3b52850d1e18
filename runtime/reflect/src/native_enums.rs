//! Enums that a host declares as Rust types. This file converts their values, and creates their declarations.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::CallError;

use crate::decl::EnumDecl;
use crate::enums::{EnumEntry, EnumType, number_of, whole};
use crate::origin::Origin;
use crate::property::{PropertyType, with_parts};
use crate::typed::OfKind;
use crate::values::InMemory;
use crate::values::enumeration::Enum;
use crate::values::ptr::{Mut, Ref};

/// An entry of a host enum, from its declaration.
#[derive(Clone, Copy, Debug)]
pub struct NativeEntry {
    /// Name of the entry.
    pub name: &'static str,
    /// Number of the entry.
    pub number: i128,
    /// Display name. If empty, editors derive the display name from `name`.
    pub display: &'static str,
    /// True if editors hide the entry.
    pub is_hidden: bool,
    /// Doc comment of the declaration.
    pub doc: &'static str,
}

/// Rust type for an enum that the host declares. Each value of the Rust type is a value of the enum. `#[uenum]` of `alcedo_runtime::native`
/// implements this trait.
///
/// If an implementation returns a number that the reflected enum does not have, the number is not written.
pub trait NativeEnumeration: Copy + 'static {
    /// Name of the package, without the prefix `/Script/`.
    const PACKAGE: &'static str;
    /// Name in the package.
    const NAME: &'static str;
    /// Path, such as `/Script/Package.Name`.
    const PATH: &'static str;
    /// Underlying type: one of the eight integer kinds.
    const UNDERLYING: PropertyKind;
    /// True if the enum is a bit set. Each entry is then one bit.
    const IS_FLAGS: bool;
    /// Doc comment of the declaration.
    const DOC: &'static str;
    /// Entries in order of declaration.
    const ENTRIES: &'static [NativeEntry];

    /// Returns the number of this value.
    fn number(self) -> i128;
    /// Returns the value with the number `number`. Returns `None` if no entry of this Rust type has this number.
    fn of_number(number: i128) -> Option<Self>;

    /// Underlying type, and a flag. The flag is true if the numbers of all entries fit in a byte.
    #[doc(hidden)]
    const NUMBERS: Option<(PropertyKind, bool)> = {
        let (mut fit, mut at) = (true, 0);
        while at < Self::ENTRIES.len() {
            fit = fit && 0 <= Self::ENTRIES[at].number && Self::ENTRIES[at].number <= u8::MAX as i128;
            at += 1;
        }
        Some((Self::UNDERLYING, fit))
    };

    /// Returns the declaration of the enum.
    fn declaration() -> EnumDecl {
        let entry = |of: &NativeEntry| EnumEntry {
            name: of.name.into(),
            number: of.number,
            display: of.display.into(),
            is_hidden: of.is_hidden,
            doc: of.doc.into(),
        };
        EnumDecl {
            is_flags: Self::IS_FLAGS,
            entries: Self::ENTRIES.iter().map(entry).collect(),
            fingerprint: Fingerprints::<Self>::ENUM,
            doc: Self::DOC.to_owned(),
            ..EnumDecl::new(Self::PACKAGE, Self::NAME, Self::UNDERLYING, Origin::Native)
        }
    }
}

/// Fingerprints of an enum, computed at compile time.
struct Fingerprints<E>(PhantomData<E>);

impl<E: NativeEnumeration> Fingerprints<E> {
    /// Fingerprint of the enum. [`EnumType`] computes an equal fingerprint.
    const ENUM: u64 = {
        let mut print = Fingerprint::START.number(E::UNDERLYING.0 as u64).number(E::IS_FLAGS as u64);
        let mut at = 0;
        while at < E::ENTRIES.len() {
            print = print.text(E::ENTRIES[at].name).number(E::ENTRIES[at].number as u64);
            at += 1;
        }
        print.finish()
    };
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
            let names: Vec<_> = E::ENTRIES.iter().map(|entry| entry.name).collect();
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
        Enum::carried(ty).filter(|of| *of.path == *E::PATH && of.fingerprint() == Fingerprints::<E>::ENUM)
    }

    fn describe() -> Cow<'static, str> {
        with_parts(E::PATH, E::ENTRIES.iter().map(|entry| format!("{} = {}", entry.name, entry.number))).into()
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
