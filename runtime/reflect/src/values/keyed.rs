//! Code that sets and maps share. The rows of a set or map begin with a key, and have no defined order.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use alcedo_abi::value::MapRaw;
use alcedo_base::handles::ObjectHandle;
use rustc_hash::FxHasher;

use super::ptr::{Mut, Ref};
use super::structure::put_new;
use crate::containers::Rowed;
use crate::owned::OwnedValue;
use crate::value::Value;

/// Feeds the sum of the hashes of all entries. The sum is independent of the order of the entries.
pub(super) fn hash<K: Rowed>(at: Ref<'_, K>, hasher: &mut dyn Hasher) {
    let mut sum = u64::from(at.rows().len());
    for (key, value) in at.rows().entries() {
        let mut own = FxHasher::default();
        key.hash_into(&mut own);
        if let Some(value) = value {
            value.hash_into(&mut own);
        }
        sum = sum.wrapping_add(own.finish());
    }
    hasher.write_u64(sum);
}

pub(super) fn visit_objects<K: Rowed>(at: Ref<'_, K>, visit: &mut dyn FnMut(ObjectHandle)) {
    if !K::nature(at.of()).holds_objects {
        return;
    }
    for (key, value) in at.rows().entries() {
        key.visit_objects(visit);
        if let Some(value) = value {
            value.visit_objects(visit);
        }
    }
}

pub(super) fn map_objects<K: Rowed<Raw = MapRaw>>(at: Mut<'_, K>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
    if !K::nature(at.of()).names_objects {
        return;
    }
    let mut keyed = at.keyed();
    for (key, value) in keyed.rows().entries() {
        key.map_objects(map);
        if let Some(value) = value {
            value.map_objects(map);
        }
    }
    if keyed.key_type().names_objects() {
        keyed.rekey();
    }
}

pub(super) fn write<'v, K: Rowed<Raw = MapRaw>>(
    at: Mut<'_, K>,
    entries: impl Iterator<Item = (&'v Value, Option<&'v Value>)>,
) {
    let mut keyed = at.keyed();
    keyed.clear();
    let mut own = OwnedValue::zero(keyed.key_type().clone());
    for (key, value) in entries {
        // Resets the temporary key, because a struct value may omit fields. These fields would otherwise keep the values of the previous
        // key.
        own.as_mut().destroy();
        put_new(own.as_mut(), key);
        let (row, _is_new) = keyed.insert(own.as_ptr()).expect("memory for a second copy");
        if let Some((value, target)) = value.zip(keyed.value(row)) {
            put_new(target, value);
        }
    }
}

/// Checks if both slices contain the same elements, each the same number of times.
pub(super) fn same_in_any_order<T: Hash + Eq>(one: &[T], two: &[T]) -> bool {
    let mut counts: HashMap<&T, isize> = HashMap::with_capacity(one.len());
    one.iter().for_each(|thing| *counts.entry(thing).or_default() += 1);
    two.iter().for_each(|thing| *counts.entry(thing).or_default() -= 1);
    counts.values().all(|count| *count == 0)
}

/// Implements the memory operations of sets and maps.
macro_rules! keyed_memory {
    () => {
        fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
            to.keyed().copy_from(from.keyed());
        }

        fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
            one.keyed().equal(two.keyed())
        }

        fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
            keyed::hash(at, hasher);
        }

        fn destroy(at: Mut<'_, Self>) {
            at.keyed().destroy();
        }

        fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
            keyed::visit_objects(at, visit);
        }

        fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
            keyed::map_objects(at, map);
        }

        fn same(one: &Self::Value, two: &Self::Value) -> bool {
            keyed::same_in_any_order(one, two)
        }

        // Feeds only the length, because the hash must be independent of the order.
        fn feed(value: &Self::Value, hasher: &mut dyn Hasher) {
            hasher.write_usize(value.len());
        }
    };
}
pub(super) use keyed_memory;
