//! Standard library types as types of properties and parameters. Each read or write copies the whole container from or to host memory.
//! These types are suitable for small containers, and for containers that are read once. For large containers, use `UArray`, `USet`, `UMap`
//! or `UOptional`, whose values plugin code accesses in place.

use core::hash::Hash;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alcedo_abi::value::{ArrayRaw, MapRaw};

use super::into_host::{load_optional, put_array, put_entries, put_keys, put_optional};
use super::map::Path;
use super::ptr::OptionalRaw;
use super::{UArray, UMap, UOptional, USet};
use crate::value::copied;
use crate::{Borrowed, Value};

copied! {
    Vec<T>, [T: Value], raw: ArrayRaw, kind: ARRAY, path: T::TYPE.as_str(),
    runs_code: T::COPY_RUNS_CODE, load: |from| from.load_items(),
    store: |values, target| put_array(values.iter(), target)
}
copied! {
    Option<T>, [T: Value], raw: OptionalRaw<T::Raw>, kind: OPTIONAL, path: T::TYPE.as_str(),
    runs_code: T::COPY_RUNS_CODE, load: |from| load_optional(from),
    store: |value, target| put_optional(value.as_ref(), target)
}
copied! {
    HashSet<T>, [T: Value + Hash + Eq], raw: MapRaw, kind: SET, path: T::TYPE.as_str(),
    runs_code: true, load: |from| from.load_keys().into_iter().collect(),
    store: |values, target| put_keys(values.iter(), target)
}
copied! {
    BTreeSet<T>, [T: Value + Ord], raw: MapRaw, kind: SET, path: T::TYPE.as_str(),
    runs_code: true, load: |from| from.load_keys().into_iter().collect(),
    store: |values, target| put_keys(values.iter(), target)
}
copied! {
    HashMap<K, V>, [K: Value + Hash + Eq, V: Value], raw: MapRaw, kind: MAP, path: Path::<K, V>::TEXT.as_str(),
    runs_code: true, load: |from| from.load_entries().into_iter().collect(),
    store: |map, target| put_entries(map.iter(), target)
}
copied! {
    BTreeMap<K, V>, [K: Value + Ord, V: Value], raw: MapRaw, kind: MAP, path: Path::<K, V>::TEXT.as_str(),
    runs_code: true, load: |from| from.load_entries().into_iter().collect(),
    store: |map, target| put_entries(map.iter(), target)
}

/// Implements conversions from views into types of the standard library. The conversions copy the values.
macro_rules! conversions {
    ($([$($params:tt)*] $view:ty => $std:ty, $copy:ident;)*) => {$(
        impl<$($params)*> From<&Borrowed<'_, $view>> for $std {
            fn from(view: &Borrowed<'_, $view>) -> Self {
                view.$copy()
            }
        }
    )*};
}
conversions! {
    [T: Value] UArray<T> => Vec<T>, to_vec;
    [T: Value] UOptional<T> => Option<T>, to_option;
    [T: Value + Hash + Eq] USet<T> => HashSet<T>, to_hash_set;
    [T: Value + Ord] USet<T> => BTreeSet<T>, to_btree_set;
    [K: Value + Hash + Eq, V: Value] UMap<K, V> => HashMap<K, V>, to_hash_map;
    [K: Value + Ord, V: Value] UMap<K, V> => BTreeMap<K, V>, to_btree_map;
}
