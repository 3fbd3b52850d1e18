//! Types of std as values: they travel as the host's containers and are copied in and out whole. Right for what is small
//! or read once; a large container is better used where it lies, as `UArray`, `USet`, `UMap` or `UOptional`.
#![expect(unsafe_code, reason = "values in host form, as each kind prescribes")]

use core::hash::Hash;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{ArrayRaw, MapRaw};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::ValidityToken;
use super::map::{Path, load_entries, put_entries};
use super::optional::{OptionalRaw, load_optional, put_optional};
use super::row::{load_row, put_row};
use super::set::{entries, put_keys};
use super::temp::Temp;
use crate::Value;
use crate::value::{NoDefault, address_slot, pointer_of};

macro_rules! copied {
    (
        $name:ty, [$($params:tt)*], raw: $raw:ty, kind: $kind:ident, path: $path:expr,
        load: |$from:ident| $load:expr, store: |$value:ident, $to:ident| $store:expr
    ) => {
        // SAFETY: the host keeps this kind in just this form, of which any bytes are valid until they are followed; values
        // travel in slots behind a pointer to it, as the border prescribes.
        unsafe impl<$($params)*> Value for $name {
            const KIND: PropertyKind = PropertyKind::$kind;
            const TYPE_PATH: &'static str = $path;
            const OWNS_MEMORY: bool = true;
            type Raw = $raw;
            type Literal = NoDefault;
            type Seen<'f> = Self;
            type In = Temp<Self>;
            type Out = Temp<Self>;

            unsafe fn see<'f>(at: *mut $raw, _token: impl FnOnce() -> ValidityToken<'f>) -> Self {
                // SAFETY: promised by the caller.
                unsafe { Self::load(at) }
            }

            unsafe fn load(raw: *const $raw) -> Self {
                let $from = raw;
                // SAFETY: `raw` is live by contract.
                unsafe { $load }
            }

            unsafe fn store(&self, target: *mut $raw) -> Result<(), CallError> {
                let ($value, $to) = (self, target);
                // SAFETY: `target` is live by contract.
                unsafe { $store }
            }

            unsafe fn stage(&self) -> Temp<Self> {
                super::into_host::staged::<Self, Self>(self).unwrap_or_else(|error| alcedo_rt::fail(error))
            }

            unsafe fn slot_in(&self, staged: &Temp<Self>) -> Slot {
                address_slot(staged.at())
            }

            fn out() -> Temp<Self> {
                Temp::zeroed()
            }

            unsafe fn slot_out(out: &mut Temp<Self>) -> Slot {
                address_slot(out.at_mut())
            }

            unsafe fn take_out(_slot: Slot, out: Temp<Self>) -> Result<Self, CallError> {
                // SAFETY: it was zero bytes, which are a value, and the callee has overwritten it with another.
                Ok(unsafe { Self::load(out.at()) })
            }

            unsafe fn from_slot(slot: Slot) -> Result<Self, CallError> {
                let raw = pointer_of::<$raw>(slot)?;
                // SAFETY: for this kind the slot points to a live value, by contract.
                Ok(unsafe { Self::load(raw) })
            }

            unsafe fn into_slot(self, slot: &mut Slot) -> Result<(), CallError> {
                let raw = pointer_of::<$raw>(*slot)?;
                // SAFETY: for this kind the slot of a result points to zero bytes, which are a live value, by contract.
                unsafe { self.store(raw) }
            }
        }
    };
}

copied! {
    Vec<T>, [T: Value], raw: ArrayRaw, kind: ARRAY, path: T::TYPE.as_str(),
    load: |raw| load_row(raw, size_of::<T::Raw>(), 0),
    store: |values, target| put_row::<Self, T, T>(values.iter(), target)
}
copied! {
    Option<T>, [T: Value], raw: OptionalRaw<T::Raw>, kind: OPTIONAL, path: T::TYPE.as_str(),
    load: |raw| load_optional(raw),
    store: |value, target| put_optional::<Self, T, T>(value.as_ref(), target)
}
copied! {
    HashSet<T>, [T: Value + Hash + Eq], raw: MapRaw, kind: SET, path: T::TYPE.as_str(),
    load: |raw| load_keys(raw),
    store: |values, target| put_keys::<Self, T, T>(values.iter(), target)
}
copied! {
    BTreeSet<T>, [T: Value + Ord], raw: MapRaw, kind: SET, path: T::TYPE.as_str(),
    load: |raw| load_keys(raw),
    store: |values, target| put_keys::<Self, T, T>(values.iter(), target)
}
copied! {
    HashMap<K, V>, [K: Value + Hash + Eq, V: Value], raw: MapRaw, kind: MAP, path: Path::<K, V>::TEXT.as_str(),
    load: |raw| load_entries::<K, V>(raw).into_iter().collect(),
    store: |map, target| put_entries::<Self, K, V, K, V>(map.iter(), target)
}
copied! {
    BTreeMap<K, V>, [K: Value + Ord, V: Value], raw: MapRaw, kind: MAP, path: Path::<K, V>::TEXT.as_str(),
    load: |raw| load_entries::<K, V>(raw).into_iter().collect(),
    store: |map, target| put_entries::<Self, K, V, K, V>(map.iter(), target)
}

/// The keys of a set.
///
/// # Safety
/// `raw` is a live set of values of type `T`.
unsafe fn load_keys<T: Value, C: FromIterator<T>>(raw: *const MapRaw) -> C {
    // SAFETY: promised by the caller.
    let row = unsafe { entries(raw) };
    // SAFETY: its row, of keys alone.
    unsafe { load_row(row, size_of::<T::Raw>(), 0) }
}
