//! Library functions that accept any array.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::Name;
use alcedo_reflect::World;
use alcedo_reflect::containers::{Rows, RowsMut, array, array_ref};
use alcedo_reflect::decl::{FunctionDecl, RESULT_NAME};
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::structs::StructType;
use alcedo_reflect::thunk::{AnyArray, AnyValue, Frame, Param, function_of};
use alcedo_reflect::value::Value;
use alcedo_reflect::values::ptr::Ptr;

use super::build::{any_array, any_item, custom, is_empty, length, out, param, problem, result, stepped_len};
use super::math::below;
use crate::intrinsic::remove_equal;
use crate::rows::{failed, set_len};
use crate::value::{Number, number, plain_text};
use crate::{cost, size};

pub(super) fn functions() -> Vec<FunctionDecl> {
    let target = || any_array("target_array");
    let item = || any_item("item");
    let index = || param::<i32>("index");
    vec![
        custom(
            "array_add",
            "Adds an element at the end and returns its index.",
            vec![out(target()), item(), result::<i32>()],
            add,
        ),
        custom(
            "array_append",
            "Appends all elements of another array.",
            vec![out(target()), any_array("source_array")],
            append,
        ),
        custom("array_insert", "Inserts an element at an index.", vec![out(target()), item(), index()], insert),
        custom("array_remove", "Removes the element at an index.", vec![out(target()), index()], remove),
        custom(
            "array_remove_item",
            "Removes all equal elements; returns true if there were any.",
            vec![out(target()), item(), result::<bool>()],
            remove_item,
        ),
        custom("array_clear", "Removes all elements.", vec![out(target())], clear),
        custom("array_resize", "Changes the length of an array.", vec![out(target()), param::<i32>("size")], resize),
        custom("array_shuffle", "Shuffles the elements.", vec![out(target())], shuffle),
        custom(
            "array_sort_by",
            "Sorts structs by a field, found by display name, then by name. The sort is stable.",
            vec![out(target()), param::<Name>("property"), param::<bool>("descending").with_default("false")],
            sort_by,
        ),
        custom("array_length", "Returns the number of elements.", vec![target(), result::<i32>()], length::<AnyArray>),
        custom(
            "array_last_index",
            "Returns the index of the last element, or -1.",
            vec![target(), result::<i32>()],
            last_index,
        ),
        custom(
            "array_find",
            "Returns the index of the first equal element, or -1.",
            vec![target(), item(), result::<i32>()],
            find,
        ),
        custom(
            "array_contains",
            "Returns true if an equal element exists.",
            vec![target(), item(), result::<bool>()],
            contains,
        ),
        custom(
            "array_is_valid_index",
            "Returns true if an index is in range.",
            vec![target(), index(), result::<bool>()],
            is_valid_index,
        ),
        custom(
            "array_is_empty",
            "Returns true if the array is empty.",
            vec![target(), result::<bool>()],
            is_empty::<AnyArray>,
        ),
        custom(
            "array_swap",
            "Exchanges the elements at two indices.",
            vec![out(target()), param::<i32>("first"), param::<i32>("second")],
            swap,
        ),
        custom("array_reverse", "Reverses the order of the elements.", vec![out(target())], reverse),
        custom("array_get", "Returns the element at an index.", vec![target(), index(), any_item(RESULT_NAME)], get),
        custom(
            "array_set",
            "Overwrites the element at an index; grows the array if needed and `size_to_fit` is set.",
            vec![out(target()), index(), item(), param::<bool>("size_to_fit").with_default("false")],
            set,
        ),
        custom(
            "array_numeric_property_average",
            "Returns the average of a numeric or enum field over the structs of an array. The field is found by display name, \
             then by name. 0 for an empty array.",
            vec![target(), param::<Name>("property"), result::<f32>()],
            average,
        ),
    ]
}

fn row_size(frame: &Frame<'_>, target: Param) -> usize {
    match &frame.property(target).ty {
        PropertyType::Array(of) => of.ty().size(),
        _ => 0,
    }
}

fn rows(at: Ptr<'_>) -> Rows<'_> {
    array_ref(at).expect("checked to be an array")
}

fn rows_mut<'f>(frame: &'f mut Frame<'_>, target: Param) -> Result<RowsMut<'f>, CallError> {
    Ok(array(frame.value_mut(target)?).expect("checked to be an array"))
}

fn add(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, item) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.step_compiled_in::<AnyValue>()?);
    frame.finish()?;
    let at = rows(frame.value(target)).len();
    put_new(frame, target, item, at)?;
    frame.set_result(at as i32)
}

fn put_new(frame: &mut Frame<'_>, target: Param, item: Param, at: u32) -> Result<(), CallError> {
    check_item(frame, target, item)?;
    let (to, from) = frame.value_mut_and(target, item)?;
    let mut rows = array(to).expect("checked to be an array");
    size::rows(rows.len(), 1, from.ty().size())?;
    cost::add(u64::from(rows.len().saturating_sub(at)));
    rows.splice(at, 0, 1).map_err(failed)?;
    if let Some(place) = rows.get_mut(at) {
        cost::copy(place, from);
    }
    Ok(())
}

/// Checks that the item has the element type of the array. This check repeats the check of the source checker, because bytecode is
/// untrusted.
fn check_item(frame: &Frame<'_>, target: Param, item: Param) -> Result<(), CallError> {
    let PropertyType::Array(of) = &frame.property(target).ty else { return Ok(()) };
    let found = &frame.property(item).ty;
    if of.ty() == found {
        return Ok(());
    }
    Err(CallError::Signature {
        name: function_of(frame).path.to_string(),
        found: format!("an array of {}", of.ty()),
        expected: found.to_string(),
    })
}

fn append(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, source) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.step_compiled_in::<AnyArray>()?);
    frame.finish()?;
    if frame.property(target).ty != frame.property(source).ty {
        let (one, two) = (&frame.property(target).ty, &frame.property(source).ty);
        return Err(problem(frame, format_args!("a {two} is appended to a {one}")));
    }
    let row = row_size(frame, target);
    let (to, from) = frame.value_mut_and(target, source)?;
    let (mut to, from) = (array(to).expect("checked to be an array"), rows(from));
    let (len, more) = (to.len(), from.len());
    size::rows(len, more, row)?;
    to.splice(len, 0, more).map_err(failed)?;
    for at in 0..more {
        if let (Some(place), Some(value)) = (to.get_mut(len + at), from.get(at)) {
            cost::copy(place, value);
        }
    }
    Ok(())
}

/// Converts an `int` to an index in the array. Fails if the index is out of range.
fn place(frame: &Frame<'_>, index: i32, len: u32) -> Result<u32, CallError> {
    let found = u32::try_from(index).ok().filter(|at| *at < len);
    found.ok_or_else(|| problem(frame, format_args!("element {index} is out of range: the array has {len}")))
}

fn insert(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, item) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.step_compiled_in::<AnyValue>()?);
    let index = frame.take::<i32>()?;
    frame.finish()?;
    let at = place(frame, index, rows(frame.value(target)).len() + 1)?;
    put_new(frame, target, item, at)
}

fn remove(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, index) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.take::<i32>()?);
    frame.finish()?;
    let len = rows(frame.value(target)).len();
    let at = place(frame, index, len)?;
    cost::add(u64::from(len - at));
    rows_mut(frame, target)?.splice(at, 1, 0).map_err(failed)
}

fn remove_item(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, item) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.step_compiled_in::<AnyValue>()?);
    frame.finish()?;
    let (to, item) = frame.value_mut_and(target, item)?;
    let mut rows = array(to).expect("checked to be an array");
    let removed = remove_equal(&mut rows, item)?;
    frame.set_result(removed != 0)
}

fn clear(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let target = frame.step_compiled_in_ref::<AnyArray>()?;
    frame.finish()?;
    let mut rows = rows_mut(frame, target)?;
    let len = rows.len();
    cost::add(u64::from(len));
    rows.splice(0, len, 0).map_err(failed)
}

fn resize(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, size) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.take::<i32>()?);
    frame.finish()?;
    let size = u32::try_from(size).map_err(|_| problem(frame, format_args!("an array cannot have {size} elements")))?;
    resize_to(frame, target, size)
}

/// Resizes an array. New elements have their initial value.
fn resize_to(frame: &mut Frame<'_>, target: Param, size: u32) -> Result<(), CallError> {
    let PropertyType::Array(of) = &frame.property(target).ty else { return Ok(()) };
    set_len(&mut rows_mut(frame, target)?, size, of.ty())
}

fn shuffle(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let target = frame.step_compiled_in_ref::<AnyArray>()?;
    frame.finish()?;
    let mut rows = rows_mut(frame, target)?;
    cost::add(u64::from(rows.len()));
    for at in (1..rows.len()).rev() {
        rows.swap(at, below(at + 1));
    }
    Ok(())
}

/// Finds a field by display name. If no display name matches, finds the field by name.
pub(super) fn field_named<'a>(of: &'a StructType, name: &str) -> Option<&'a Property> {
    let by_display = of.fields().iter().find(|field| *field.display == *name);
    by_display.or_else(|| of.fields().iter().find(|field| *field.text == *name))
}

fn element_field<'a>(world: &World, frame: &Frame<'a>, target: Param, name: Name) -> Result<&'a Property, CallError> {
    let ty = &frame.property(target).ty;
    let PropertyType::Array(of) = ty else { return Err(problem(frame, format_args!("a {ty} is not an array"))) };
    let PropertyType::Struct(structure) = of.ty() else {
        return Err(problem(frame, format_args!("the elements are not structs: it is an array of {}", of.ty())));
    };
    let name = world.text(name);
    field_named(structure, &name).ok_or_else(|| {
        let known: Vec<_> = structure.fields().iter().map(|field| &*field.display).collect();
        problem(frame, format_args!("{} has no field `{name}`: it has {}", structure.path, known.join(", ")))
    })
}

fn sort_by(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, name) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.take::<Name>()?);
    let descending = frame.take::<bool>()?;
    frame.finish()?;
    let field = element_field(world, frame, target, name)?;
    let found = rows(frame.value(target));
    cost::add(u64::from(found.len()) * u64::from(u32::BITS - found.len().leading_zeros()));
    let mut keys = Vec::with_capacity(found.len() as usize);
    for at in 0..found.len() {
        let value = found.get(at).and_then(|row| row.field(field)).map(size::read).transpose()?;
        let key = value.and_then(|value| Key::of(&value, world));
        let key =
            key.ok_or_else(|| problem(frame, format_args!("{} is a {}, which has no order", field.display, field.ty)))?;
        keys.push((key, at));
    }
    keys.sort_by(|(one, _), (two, _)| if descending { two.order(one) } else { one.order(two) });
    // Brings the elements into the order of the sorted keys by swaps.
    let mut rows = rows_mut(frame, target)?;
    let mut order: Vec<u32> = keys.into_iter().map(|(_, at)| at).collect();
    for at in 0..order.len() {
        let mut from = order[at];
        while (from as usize) < at {
            from = order[from as usize];
        }
        order[at] = from;
        rows.swap(at as u32, from);
    }
    Ok(())
}

enum Key {
    Number(Number),
    Text(String),
    /// Text of a name. Shared with the table of names, so an array of names needs no copies.
    Name(Rc<str>),
}

impl Key {
    fn of(value: &Value, world: &World) -> Option<Self> {
        match value {
            Value::Name(name) => Some(Self::Name(world.names.text(*name))),
            value => number(value).map(Self::Number).or_else(|| plain_text(value, world).map(Self::Text)),
        }
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Number(Number::Float(one)), Self::Number(Number::Float(two))) => one.total_cmp(two),
            (Self::Number(Number::Whole(one)), Self::Number(Number::Whole(two))) => one.cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Name(one), Self::Name(two)) => one.cmp(two),
            _ => std::cmp::Ordering::Equal,
        }
    }
}

fn last_index(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let len = stepped_len::<AnyArray>(frame)?;
    frame.set_result(len as i32 - 1)
}

fn is_valid_index(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, index) = (frame.step_compiled_in::<AnyArray>()?, frame.take::<i32>()?);
    frame.finish()?;
    let len = rows(frame.value(target)).len();
    frame.set_result(u32::try_from(index).is_ok_and(|at| at < len))
}

fn swap(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let target = frame.step_compiled_in_ref::<AnyArray>()?;
    let (first, second) = (frame.take::<i32>()?, frame.take::<i32>()?);
    frame.finish()?;
    let len = rows(frame.value(target)).len();
    let (first, second) = (place(frame, first, len)?, place(frame, second, len)?);
    rows_mut(frame, target)?.swap(first, second);
    Ok(())
}

fn reverse(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let target = frame.step_compiled_in_ref::<AnyArray>()?;
    frame.finish()?;
    let mut rows = rows_mut(frame, target)?;
    let len = rows.len();
    cost::add(u64::from(len));
    for at in 0..len / 2 {
        rows.swap(at, len - 1 - at);
    }
    Ok(())
}

fn position(frame: &mut Frame<'_>) -> Result<Option<u32>, CallError> {
    let (target, item) = (frame.step_compiled_in::<AnyArray>()?, frame.step_compiled_in::<AnyValue>()?);
    frame.finish()?;
    check_item(frame, target, item)?;
    let (rows, item) = (rows(frame.value(target)), frame.value(item));
    cost::add(cost::of(frame.value(target)));
    Ok((0..rows.len()).find(|at| rows.get(*at).is_some_and(|found| found.equal(item))))
}

fn find(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let found = position(frame)?;
    frame.set_result(found.map_or(-1, |at| at as i32))
}

fn contains(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let found = position(frame)?;
    frame.set_result(found.is_some())
}

fn get(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, index) = (frame.step_compiled_in::<AnyArray>()?, frame.take::<i32>()?);
    frame.finish()?;
    let at = place(frame, index, rows(frame.value(target)).len())?;
    let (to, from) = frame.result_mut_and(target)?;
    let from = rows(from).get(at).expect("the index was checked");
    if to.as_ptr().ty() != from.ty() {
        return Err(CallError::other(format!("array_get: an element is a {}, not a {}", from.ty(), to.as_ptr().ty())));
    }
    cost::copy(to, from);
    Ok(())
}

fn set(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, index) = (frame.step_compiled_in_ref::<AnyArray>()?, frame.take::<i32>()?);
    let (item, grows) = (frame.step_compiled_in::<AnyValue>()?, frame.take::<bool>()?);
    frame.finish()?;
    check_item(frame, target, item)?;
    let len = rows(frame.value(target)).len();
    if grows && index >= 0 && index as u32 >= len {
        resize_to(frame, target, index as u32 + 1)?;
    }
    let at = place(frame, index, rows(frame.value(target)).len())?;
    let (to, from) = frame.value_mut_and(target, item)?;
    if let Some(place) = array(to).expect("checked to be an array").get_mut(at) {
        cost::copy(place, from);
    }
    Ok(())
}

fn average(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (target, name) = (frame.step_compiled_in::<AnyArray>()?, frame.take::<Name>()?);
    frame.finish()?;
    let field = element_field(world, frame, target, name)?;
    let rows = rows(frame.value(target));
    cost::add(u64::from(rows.len()));
    let sum = rows.sum(field);
    let average = match sum {
        Some(sum) if rows.len() == 0 => sum,
        Some(sum) => sum / f64::from(rows.len()),
        None => {
            return Err(problem(frame, format_args!("{} is a {}, which is not a number", field.display, field.ty)));
        }
    };
    frame.set_result(average as f32)
}
