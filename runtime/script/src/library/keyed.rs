//! Library functions that accept any set or any map. The declared parameter types are placeholders: a parameter declared as a set accepts
//! any set, and one declared as a map accepts any map. A parameter declared as a number accepts a value of any type.

use alcedo_base::boundary::CallError;
use alcedo_reflect::containers::{Keyed, array, keyed, keyed_mut};
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::thunk::{AnyArray, AnyMap, AnySet, AnyValue, Frame, Param};
use alcedo_reflect::values::ptr::Ptr;

use super::build::{library, problem};
use crate::rows::{failed, replace};
use crate::{cost, size};

pub(super) fn set_functions() -> Vec<FunctionDecl> {
    library! { world, frame:
        /// Adds an item; returns true if it is new.
        fn set_add(target_set: &mut AnySet, item: AnyValue) -> bool { put(frame, target_set, item)?.1 }

        /// Removes an item; returns true if it existed.
        fn set_remove(target_set: &mut AnySet, item: AnyValue) -> bool { remove(frame, target_set, item)? }

        /// Returns true if an item is in the set.
        fn set_contains(target_set: AnySet, item: AnyValue) -> bool { row_of(frame, target_set, item)?.is_some() }

        /// Returns the number of items.
        fn set_length(target_set: AnySet) -> i32 { len(frame, target_set) as i32 }

        /// Returns true if the set is empty.
        fn set_is_empty(target_set: AnySet) -> bool { len(frame, target_set) == 0 }

        /// Writes the items to an array, in any order.
        fn set_to_array(target_set: AnySet, items: &mut AnyArray) { to_array(frame, target_set, items, false)?; }

        /// Adds all items of another set.
        fn set_union(target_set: &mut AnySet, other_set: AnySet) {
            check_sets(frame, target_set, other_set)?;
            let (to, from) = frame.value_mut_and(target_set, other_set)?;
            let (mut to, from) = (keyed_mut(to).expect(STEPPED), keyed_ref(from));
            for (key, _) in (0..from.len()).filter_map(|at| from.get(at)) {
                size::one_more(to.as_ref(), key, key.ty().size())?;
                to.insert(key).map_err(failed)?;
            }
        }

        /// Removes all items that are not in another set.
        fn set_intersection(target_set: &mut AnySet, other_set: AnySet) { keep(frame, target_set, other_set, true)?; }

        /// Removes all items of another set.
        fn set_difference(target_set: &mut AnySet, other_set: AnySet) { keep(frame, target_set, other_set, false)?; }

        /// Removes all items.
        fn set_clear(target_set: &mut AnySet) { clear(frame, target_set)?; }
    }
}

pub(super) fn map_functions() -> Vec<FunctionDecl> {
    library! { world, frame:
        /// Sets the value of a key, adding the key if needed.
        fn map_add(target_map: &mut AnyMap, key: AnyValue, value: AnyValue) {
            check_value(frame, target_map, value)?;
            let (row, _) = put(frame, target_map, key)?;
            let (to, from) = frame.value_mut_and(target_map, value)?;
            if let Some(place) = keyed_mut(to).expect(STEPPED).value(row) {
                cost::copy(place, from);
            }
        }

        /// Removes a key and its value; returns true if they existed.
        fn map_remove(target_map: &mut AnyMap, key: AnyValue) -> bool { remove(frame, target_map, key)? }

        /// Writes the value of a key to `value`; returns true if the key exists.
        fn map_find(target_map: AnyMap, key: AnyValue, value: &mut AnyValue) -> bool {
            check_value(frame, target_map, value)?;
            let row = row_of(frame, target_map, key)?;
            if let Some(row) = row {
                let (to, from) = frame.value_mut_and(value, target_map)?;
                if let Some((_, Some(found))) = keyed_ref(from).get(row) {
                    cost::copy(to, found);
                }
            }
            row.is_some()
        }

        /// Returns true if a key is in the map.
        fn map_contains(target_map: AnyMap, key: AnyValue) -> bool { row_of(frame, target_map, key)?.is_some() }

        /// Returns the number of keys.
        fn map_length(target_map: AnyMap) -> i32 { len(frame, target_map) as i32 }

        /// Returns true if the map is empty.
        fn map_is_empty(target_map: AnyMap) -> bool { len(frame, target_map) == 0 }

        /// Writes the keys to an array, in the order of `map_values`.
        fn map_keys(target_map: AnyMap, items: &mut AnyArray) { to_array(frame, target_map, items, false)?; }

        /// Writes the values to an array.
        fn map_values(target_map: AnyMap, items: &mut AnyArray) { to_array(frame, target_map, items, true)?; }

        /// Removes all keys and values.
        fn map_clear(target_map: &mut AnyMap) { clear(frame, target_map)?; }
    }
}

const STEPPED: &str = "checked to be a set or map";

fn keyed_ref(at: Ptr<'_>) -> Keyed<'_> {
    keyed(at).expect(STEPPED)
}

fn len(frame: &Frame<'_>, target: Param) -> u32 {
    keyed_ref(frame.value(target)).len()
}

fn check_key(frame: &Frame<'_>, target: Param, key: Param) -> Result<(), CallError> {
    cost::add(cost::of(frame.value(key)));
    let (expected, found) = (keyed_ref(frame.value(target)).key_type(), &frame.property(key).ty);
    match expected == found {
        true => Ok(()),
        false => Err(problem(frame, format_args!("the type {found} is not {expected}, the type of the keys"))),
    }
}

/// Inserts a key. Returns the index of the key's entry, and true if the key is new.
fn put(frame: &mut Frame<'_>, target: Param, key: Param) -> Result<(u32, bool), CallError> {
    check_key(frame, target, key)?;
    let value = match &frame.property(target).ty {
        PropertyType::Map(of) => of.value().size(),
        _ => 0,
    };
    let (to, key) = frame.value_mut_and(target, key)?;
    let mut rows = keyed_mut(to).expect(STEPPED);
    size::one_more(rows.as_ref(), key, key.ty().size() + value)?;
    rows.insert(key).map_err(failed)
}

fn row_of(frame: &Frame<'_>, target: Param, key: Param) -> Result<Option<u32>, CallError> {
    check_key(frame, target, key)?;
    Ok(keyed_ref(frame.value(target)).find(frame.value(key)))
}

/// Removes a key. Returns true if the key existed.
fn remove(frame: &mut Frame<'_>, target: Param, key: Param) -> Result<bool, CallError> {
    let Some(row) = row_of(frame, target, key)? else { return Ok(false) };
    keyed_mut(frame.value_mut(target)?).expect(STEPPED).remove(row).map_err(failed)?;
    Ok(true)
}

fn clear(frame: &mut Frame<'_>, target: Param) -> Result<(), CallError> {
    cost::add(u64::from(len(frame, target)));
    keyed_mut(frame.value_mut(target)?).expect(STEPPED).clear();
    Ok(())
}

/// Copies the keys or values of a set or map into an array.
fn to_array(frame: &mut Frame<'_>, target: Param, items: Param, of_values: bool) -> Result<(), CallError> {
    let expected = match &frame.property(target).ty {
        PropertyType::Map(of) if of_values => of.value(),
        _ => keyed_ref(frame.value(target)).key_type(),
    };
    match &frame.property(items).ty {
        PropertyType::Array(of) if of.ty() == expected => {}
        found => return Err(problem(frame, format_args!("expected an array of {expected}, found a {found}"))),
    }
    let (to, from) = frame.value_mut_and(items, target)?;
    let (mut to, from) = (array(to).expect("checked to be an array"), keyed_ref(from));
    let found = |at: u32| from.get(at).and_then(|(key, value)| if of_values { value } else { Some(key) });
    let before = to.len();
    replace(&mut to, 0..before, from.len(), found)
}

/// Checks that two arguments are sets of one type. Adds the cost of one pass over both sets.
fn check_sets(frame: &Frame<'_>, target: Param, other: Param) -> Result<(), CallError> {
    let (one, two) = (&frame.property(target).ty, &frame.property(other).ty);
    if one != two {
        return Err(problem(frame, format_args!("expected a {one}, found a {two}")));
    }
    cost::add(cost::of(frame.value(target)).saturating_add(cost::of(frame.value(other))));
    Ok(())
}

/// Removes items from a set. If `in_other` is true, keeps the items that the second set also contains. Otherwise, keeps the items that the
/// second set does not contain.
fn keep(frame: &mut Frame<'_>, target: Param, other: Param, in_other: bool) -> Result<(), CallError> {
    check_sets(frame, target, other)?;
    let (to, from) = frame.value_mut_and(target, other)?;
    let (mut to, from) = (keyed_mut(to).expect(STEPPED), keyed_ref(from));
    // Loops backward, because a removal moves the last entry to the index of the removed entry. A backward loop has already visited the
    // moved entry.
    for at in (0..to.as_ref().len()).rev() {
        let is_there = to.as_ref().get(at).is_some_and(|(key, _)| from.find(key).is_some());
        if is_there != in_other {
            to.remove(at).map_err(failed)?;
        }
    }
    Ok(())
}

fn check_value(frame: &Frame<'_>, target: Param, value: Param) -> Result<(), CallError> {
    let PropertyType::Map(of) = &frame.property(target).ty else { return Ok(()) };
    let found = &frame.property(value).ty;
    match of.value() == found {
        true => Ok(()),
        false => Err(problem(frame, format_args!("the type {found} is not {}, the type of the values", of.value()))),
    }
}
