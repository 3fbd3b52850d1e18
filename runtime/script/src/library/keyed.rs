//! Library functions that accept any set or any map. The declared parameter types are placeholders: a parameter declared as a set accepts
//! any set, and one declared as a map accepts any map. A parameter declared as a number accepts a value of any type.

use alcedo_base::boundary::CallError;
use alcedo_reflect::World;
use alcedo_reflect::containers::{Keyed, array, keyed, keyed_mut};
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::thunk::{AnyArray, AnyMap, AnySet, AnyValue, ArgumentKind, Frame, Param};
use alcedo_reflect::values::ptr::Ptr;

use super::build::{any_array, any_map, any_set, any_value, custom, is_empty, length, out, problem, result};
use crate::rows::failed;
use crate::{cost, size};

pub(super) fn set_functions() -> Vec<FunctionDecl> {
    let target = || any_set("target_set");
    let two = || vec![out(target()), any_set("other_set")];
    let items = || out(any_array("items"));
    let item = || any_value("item");
    vec![
        custom(
            "set_add",
            "Adds an item; returns true if it is new.",
            vec![out(target()), item(), result::<bool>()],
            set_add,
        ),
        custom(
            "set_remove",
            "Removes an item; returns true if it existed.",
            vec![out(target()), item(), result::<bool>()],
            remove::<AnySet>,
        ),
        custom(
            "set_contains",
            "Returns true if an item is in the set.",
            vec![target(), item(), result::<bool>()],
            contains::<AnySet>,
        ),
        custom("set_length", "Returns the number of items.", vec![target(), result::<i32>()], length::<AnySet>),
        custom(
            "set_is_empty",
            "Returns true if the set is empty.",
            vec![target(), result::<bool>()],
            is_empty::<AnySet>,
        ),
        custom(
            "set_to_array",
            "Writes the items to an array, in any order.",
            vec![target(), items()],
            to_array::<AnySet, false>,
        ),
        custom("set_union", "Adds all items of another set.", two(), set_union),
        custom("set_intersection", "Removes all items that are not in another set.", two(), keep::<true>),
        custom("set_difference", "Removes all items of another set.", two(), keep::<false>),
        custom("set_clear", "Removes all items.", vec![out(target())], clear::<AnySet>),
    ]
}

pub(super) fn map_functions() -> Vec<FunctionDecl> {
    let target = || any_map("target_map");
    let key = || any_value("key");
    vec![
        custom(
            "map_add",
            "Sets the value of a key, adding the key if needed.",
            vec![out(target()), key(), any_value("value")],
            map_add,
        ),
        custom(
            "map_remove",
            "Removes a key and its value; returns true if they existed.",
            vec![out(target()), key(), result::<bool>()],
            remove::<AnyMap>,
        ),
        custom(
            "map_find",
            "Writes the value of a key to `value`; returns true if the key exists.",
            vec![target(), key(), out(any_value("value")), result::<bool>()],
            map_find,
        ),
        custom(
            "map_contains",
            "Returns true if a key is in the map.",
            vec![target(), key(), result::<bool>()],
            contains::<AnyMap>,
        ),
        custom("map_length", "Returns the number of keys.", vec![target(), result::<i32>()], length::<AnyMap>),
        custom(
            "map_is_empty",
            "Returns true if the map is empty.",
            vec![target(), result::<bool>()],
            is_empty::<AnyMap>,
        ),
        custom(
            "map_keys",
            "Writes the keys to an array, in the order of `map_values`.",
            vec![target(), out(any_array("items"))],
            to_array::<AnyMap, false>,
        ),
        custom(
            "map_values",
            "Writes the values to an array.",
            vec![target(), out(any_array("items"))],
            to_array::<AnyMap, true>,
        ),
        custom("map_clear", "Removes all keys and values.", vec![out(target())], clear::<AnyMap>),
    ]
}

const STEPPED: &str = "checked to be a set or map";

fn keyed_ref(at: Ptr<'_>) -> Keyed<'_> {
    keyed(at).expect(STEPPED)
}

fn check_key(frame: &Frame<'_>, target: Param, key: Param) -> Result<(), CallError> {
    cost::add(cost::of(frame.value(key)));
    let (expected, found) = (keyed_ref(frame.value(target)).key_type(), &frame.property(key).ty);
    match expected == found {
        true => Ok(()),
        false => Err(problem(frame, format_args!("a {found} is not a {expected}, the type of the keys"))),
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

fn set_add(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, item) = (frame.step_compiled_in_ref::<AnySet>()?, frame.step_compiled_in::<AnyValue>()?);
    frame.finish()?;
    let (_, is_new) = put(frame, target, item)?;
    frame.set_result(is_new)
}

fn remove<K: ArgumentKind>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, key) = (frame.step_compiled_in_ref::<K>()?, frame.step_compiled_in::<AnyValue>()?);
    frame.finish()?;
    let row = row_of(frame, target, key)?;
    if let Some(row) = row {
        keyed_mut(frame.value_mut(target)?).expect(STEPPED).remove(row).map_err(failed)?;
    }
    frame.set_result(row.is_some())
}

fn contains<K: ArgumentKind>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, key) = (frame.step_compiled_in::<K>()?, frame.step_compiled_in::<AnyValue>()?);
    frame.finish()?;
    let row = row_of(frame, target, key)?;
    frame.set_result(row.is_some())
}

fn clear<K: ArgumentKind>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let target = frame.step_compiled_in_ref::<K>()?;
    frame.finish()?;
    cost::add(u64::from(keyed_ref(frame.value(target)).len()));
    keyed_mut(frame.value_mut(target)?).expect(STEPPED).clear();
    Ok(())
}

/// Copies the keys or values of a set or map into an array.
fn to_array<K: ArgumentKind, const OF_VALUES: bool>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, items) = (frame.step_compiled_in::<K>()?, frame.step_compiled_in_ref::<AnyArray>()?);
    frame.finish()?;
    let expected = match &frame.property(target).ty {
        PropertyType::Map(of) if OF_VALUES => of.value(),
        _ => keyed_ref(frame.value(target)).key_type(),
    };
    match &frame.property(items).ty {
        PropertyType::Array(of) if of.ty() == expected => {}
        found => return Err(problem(frame, format_args!("expected an array of {expected}, found a {found}"))),
    }
    let row = expected.size();
    let (to, from) = frame.value_mut_and(items, target)?;
    let (mut to, from) = (array(to).expect("checked to be an array"), keyed_ref(from));
    let (before, len) = (to.len(), from.len());
    size::rows(0, len, row)?;
    to.splice(0, before, len).map_err(failed)?;
    for at in 0..len {
        let found = from.get(at).and_then(|(key, value)| if OF_VALUES { value } else { Some(key) });
        if let (Some(place), Some(found)) = (to.get_mut(at), found) {
            cost::copy(place, found);
        }
    }
    Ok(())
}

/// Reads two arguments that are sets of the same type. The caller may change the first set.
fn two_sets(frame: &mut Frame<'_>) -> Result<(Param, Param), CallError> {
    let (target, other) = (frame.step_compiled_in_ref::<AnySet>()?, frame.step_compiled_in::<AnySet>()?);
    frame.finish()?;
    let (one, two) = (&frame.property(target).ty, &frame.property(other).ty);
    match one == two {
        true => {
            cost::add(cost::of(frame.value(target)).saturating_add(cost::of(frame.value(other))));
            Ok((target, other))
        }
        false => Err(problem(frame, format_args!("expected a {one}, found a {two}"))),
    }
}

fn set_union(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, other) = two_sets(frame)?;
    let (to, from) = frame.value_mut_and(target, other)?;
    let (mut to, from) = (keyed_mut(to).expect(STEPPED), keyed_ref(from));
    for (key, _) in (0..from.len()).filter_map(|at| from.get(at)) {
        size::one_more(to.as_ref(), key, key.ty().size())?;
        to.insert(key).map_err(failed)?;
    }
    Ok(())
}

/// Removes items from a set. If `IN_OTHER` is true, keeps the items that the second set also contains. Otherwise, keeps the items that the
/// second set does not contain.
fn keep<const IN_OTHER: bool>(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, other) = two_sets(frame)?;
    let (to, from) = frame.value_mut_and(target, other)?;
    let (mut to, from) = (keyed_mut(to).expect(STEPPED), keyed_ref(from));
    // Loops backward, because a removal moves the last entry to the index of the removed entry. A backward loop has already visited the
    // moved entry.
    for at in (0..to.as_ref().len()).rev() {
        let is_there = to.as_ref().get(at).is_some_and(|(key, _)| from.find(key).is_some());
        if is_there != IN_OTHER {
            to.remove(at).map_err(failed)?;
        }
    }
    Ok(())
}

fn map_add(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, key) = (frame.step_compiled_in_ref::<AnyMap>()?, frame.step_compiled_in::<AnyValue>()?);
    let value = frame.step_compiled_in::<AnyValue>()?;
    frame.finish()?;
    check_value(frame, target, value)?;
    let (row, _) = put(frame, target, key)?;
    let (to, from) = frame.value_mut_and(target, value)?;
    if let Some(place) = keyed_mut(to).expect(STEPPED).value(row) {
        cost::copy(place, from);
    }
    Ok(())
}

fn check_value(frame: &Frame<'_>, target: Param, value: Param) -> Result<(), CallError> {
    let PropertyType::Map(of) = &frame.property(target).ty else { return Ok(()) };
    let found = &frame.property(value).ty;
    match of.value() == found {
        true => Ok(()),
        false => Err(problem(frame, format_args!("a {found} is not a {}, the type of the values", of.value()))),
    }
}

fn map_find(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, key) = (frame.step_compiled_in::<AnyMap>()?, frame.step_compiled_in::<AnyValue>()?);
    let value = frame.step_compiled_in_ref::<AnyValue>()?;
    frame.finish()?;
    check_value(frame, target, value)?;
    let row = row_of(frame, target, key)?;
    if let Some(row) = row {
        let (to, from) = frame.value_mut_and(value, target)?;
        if let Some((_, Some(found))) = keyed_ref(from).get(row) {
            cost::copy(to, found);
        }
    }
    frame.set_result(row.is_some())
}
