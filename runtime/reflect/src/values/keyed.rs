//! What sets and maps do alike: rows that begin with a key, in an order that does not matter.
#![expect(unsafe_code, reason = "the rows lie in memory of their own")]

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use alcedo_abi::value::MapRaw;
use alcedo_base::handles::ObjectHandle;
use rustc_hash::FxHasher;

use super::Kind;
use super::ptr::{Mut, Ptr, PtrMut, Ref};
use crate::containers::{map_clear, map_copy, map_destroy, map_find, map_insert, map_rekey, rows};
use crate::nested::Row;
use crate::owned::OwnedValue;
use crate::value::Value;

/// Sets and maps.
pub(super) trait Keyed: Kind<Raw = MapRaw> {
    /// How the rows lie.
    fn row(of: &Self::Of) -> Row<'_>;
}

/// Key and value of one row.
type Parts<'a> = (Ptr<'a>, Option<Ptr<'a>>);

fn parts(row: Row<'_>, place: *const u8) -> Parts<'_> {
    // SAFETY: only places of rows are given, which begin with a key.
    let key = unsafe { Ptr::new(place, row.key) };
    // SAFETY: the value lies there in such a row.
    let value = row.value.map(|(value, at)| unsafe { Ptr::new(place.wrapping_add(at), value) });
    (key, value)
}

/// Key and value of each row.
pub(super) fn entries<K: Keyed>(at: Ref<'_, K>) -> impl Iterator<Item = Parts<'_>> {
    let row = K::row(at.of());
    rows(&at.raw().entries, row.size).map(move |place| parts(row, place))
}

pub(super) fn copy<K: Keyed>(to: &Mut<'_, K>, from: Ref<'_, K>) {
    // SAFETY: the pointers were promised two sets or maps of such rows, apart from each other.
    unsafe { map_copy(to.at().cast(), from.at().cast(), K::row(to.of())) };
}

pub(super) fn equal<K: Keyed>(one: Ref<'_, K>, two: Ref<'_, K>) -> bool {
    let row = K::row(one.of());
    let (first, second) = (one.raw().entries, two.raw().entries);
    first.len == second.len
        && rows(&first, row.size).all(|place| {
            // SAFETY: the pointer was promised a set or map of such rows, and a row begins with its key.
            let Some(at) = (unsafe { map_find(two.at().cast(), row, place) }) else { return false };
            let other = second.data.wrapping_add(at as usize * row.size);
            match (parts(row, place).1, parts(row, other).1) {
                (Some(one), Some(two)) => one.equal(two),
                _ => true,
            }
        })
}

/// The order of the rows must not be felt, so their hashes are added up.
pub(super) fn hash<K: Keyed>(at: Ref<'_, K>, hasher: &mut dyn Hasher) {
    let mut sum = u64::from(at.raw().entries.len);
    for (key, value) in entries(at) {
        let mut own = FxHasher::default();
        key.hash_into(&mut own);
        if let Some(value) = value {
            value.hash_into(&mut own);
        }
        sum = sum.wrapping_add(own.finish());
    }
    hasher.write_u64(sum);
}

pub(super) fn destroy<K: Keyed>(at: &Mut<'_, K>) {
    // SAFETY: the pointer was promised a set or map of such rows.
    unsafe { map_destroy(at.at().cast(), K::row(at.of())) };
}

pub(super) fn visit_objects<K: Keyed>(at: Ref<'_, K>, visit: &mut dyn FnMut(ObjectHandle)) {
    if !K::nature(at.of()).holds_objects {
        return;
    }
    for (key, value) in entries(at) {
        key.visit_objects(visit);
        if let Some(value) = value {
            value.visit_objects(visit);
        }
    }
}

pub(super) fn map_objects<K: Keyed>(at: &Mut<'_, K>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
    if !K::nature(at.of()).names_objects {
        return;
    }
    let row = K::row(at.of());
    for place in rows(&at.raw().entries, row.size) {
        // SAFETY: the pointer was promised a set or map of such rows, and a row begins with its key.
        unsafe { PtrMut::new(place, row.key) }.map_objects(map);
        if let Some((value, at)) = row.value {
            // SAFETY: the value lies there in such a row.
            unsafe { PtrMut::new(place.wrapping_add(at), value) }.map_objects(map);
        }
    }
    if row.key.names_objects() {
        // SAFETY: the pointer was promised a set or map; only its keys are not where they should be found.
        unsafe { map_rekey(at.at().cast(), row) };
    }
}

/// Overwrites all rows.
pub(super) fn write<'v, K: Keyed>(at: &Mut<'_, K>, entries: impl Iterator<Item = (&'v Value, Option<&'v Value>)>) {
    let row = K::row(at.of());
    let map = at.at().cast::<MapRaw>();
    // SAFETY: the pointer was promised a set or map of such rows.
    unsafe { map_clear(map, row) };
    let mut own = OwnedValue::zero(row.key.clone());
    for (key, value) in entries {
        // A struct's value may leave fields out, so each key begins with zeros.
        own.as_mut().destroy();
        own.as_mut().put(key);
        // SAFETY: the pointer was promised a set or map of such rows; the key is apart, and of the key's type.
        let place = unsafe { map_insert(map, row, own.at()) };
        let (index, _is_new) = place.expect("there is memory for a second copy of what is in memory");
        if let (Some(value), Some((value_type, value_at))) = (value, row.value) {
            let place = at.raw().entries.data.wrapping_add(index as usize * row.size + value_at);
            // SAFETY: the value of the row that was found.
            unsafe { PtrMut::new(place, value_type) }.put(value);
        }
    }
}

/// Whether the two have the same things, each as often.
pub(super) fn same_in_any_order<T: Hash + Eq>(one: &[T], two: &[T]) -> bool {
    let mut counts: HashMap<&T, isize> = HashMap::with_capacity(one.len());
    one.iter().for_each(|thing| *counts.entry(thing).or_default() += 1);
    two.iter().for_each(|thing| *counts.entry(thing).or_default() -= 1);
    counts.values().all(|count| *count == 0)
}

/// What sets and maps say of their memory.
macro_rules! keyed_memory {
    () => {
        fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
            keyed::copy(&to, from);
        }

        fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
            keyed::equal(one, two)
        }

        fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
            keyed::hash(at, hasher);
        }

        fn destroy(at: Mut<'_, Self>) {
            keyed::destroy(&at);
        }

        fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
            keyed::visit_objects(at, visit);
        }

        fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
            keyed::map_objects(&at, map);
        }

        fn zero(_of: &Self::Of) -> Self::Value {
            Vec::new()
        }

        fn same(one: &Self::Value, two: &Self::Value) -> bool {
            keyed::same_in_any_order(one, two)
        }

        // Only how many there are, since the order must not be felt.
        fn feed(value: &Self::Value, hasher: &mut dyn Hasher) {
            hasher.write_usize(value.len());
        }
    };
}
pub(super) use keyed_memory;
