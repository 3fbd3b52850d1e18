//! Library functions that accept any array.

use std::cmp::Ordering;
use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::Name;
use alcedo_reflect::World;
use alcedo_reflect::containers::{Rows, RowsMut, array, array_ref};
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::thunk::{AnyArray, Frame, Param, function_of};
use alcedo_reflect::value::Value;
use alcedo_reflect::values::ptr::Ptr;

use super::build::{AnyItem, library, problem};
use super::math::below;
use crate::intrinsic::{equals, remove_equal};
use crate::rows::{failed, replace, set_len};
use crate::value::{Number, number, plain_text};
use crate::{cost, size};

pub(super) fn functions() -> Vec<FunctionDecl> {
    library! { world, frame:
        /// Adds an element at the end and returns its index.
        fn array_add(target_array: &mut AnyArray, item: AnyItem) -> i32 {
            let at = len(frame, target_array);
            put_new(frame, target_array, item, at)?;
            at as i32
        }

        /// Appends all elements of another array.
        fn array_append(target_array: &mut AnyArray, source_array: AnyArray) {
            let (one, two) = (&frame.property(target_array).ty, &frame.property(source_array).ty);
            if one != two {
                return Err(problem(frame, format_args!("a {two} is appended to a {one}")));
            }
            let (to, from) = frame.value_mut_and(target_array, source_array)?;
            let (mut to, from) = (array(to).expect("checked to be an array"), rows(from));
            let len = to.len();
            replace(&mut to, len..len, from.len(), |at| from.get(at))?;
        }

        /// Inserts an element at an index.
        fn array_insert(target_array: &mut AnyArray, item: AnyItem, index: i32) {
            let at = place(frame, index, len(frame, target_array) + 1)?;
            put_new(frame, target_array, item, at)?;
        }

        /// Removes the element at an index.
        fn array_remove(target_array: &mut AnyArray, index: i32) {
            let len = len(frame, target_array);
            let at = place(frame, index, len)?;
            cost::add(u64::from(len - at));
            rows_mut(frame, target_array)?.splice(at, 1, 0).map_err(failed)?;
        }

        /// Removes all equal elements; returns true if there were any.
        fn array_remove_item(target_array: &mut AnyArray, item: AnyItem) -> bool {
            let (to, item) = frame.value_mut_and(target_array, item)?;
            let mut rows = array(to).expect("checked to be an array");
            remove_equal(world, &mut rows, item)? != 0
        }

        /// Removes all elements.
        fn array_clear(target_array: &mut AnyArray) {
            resize_to(frame, target_array, 0)?;
        }

        /// Changes the length of an array.
        fn array_resize(target_array: &mut AnyArray, size: i32) {
            let wrong = |_| problem(frame, format_args!("an array cannot have {size} elements"));
            let size = u32::try_from(size).map_err(wrong)?;
            resize_to(frame, target_array, size)?;
        }

        /// Shuffles the elements.
        fn array_shuffle(target_array: &mut AnyArray) {
            let mut rows = rows_mut(frame, target_array)?;
            cost::add(u64::from(rows.len()));
            for at in (1..rows.len()).rev() {
                rows.swap(at, below(at + 1));
            }
        }

        /// Sorts structs by a field, found by display name, then by name. The sort is stable.
        fn array_sort_by(target_array: &mut AnyArray, property: Name, descending: bool = "false") {
            sort_by(world, frame, target_array, property, descending)?;
        }

        /// Returns the number of elements.
        fn array_length(target_array: AnyArray) -> i32 { len(frame, target_array) as i32 }

        /// Returns the index of the last element, or -1.
        fn array_last_index(target_array: AnyArray) -> i32 { len(frame, target_array) as i32 - 1 }

        /// Returns the index of the first equal element, or -1.
        fn array_find(target_array: AnyArray, item: AnyItem) -> i32 {
            position(world, frame, target_array, item)?.map_or(-1, |at| at as i32)
        }

        /// Returns true if an equal element exists.
        fn array_contains(target_array: AnyArray, item: AnyItem) -> bool {
            position(world, frame, target_array, item)?.is_some()
        }

        /// Returns true if an index is in range.
        fn array_is_valid_index(target_array: AnyArray, index: i32) -> bool {
            u32::try_from(index).is_ok_and(|at| at < len(frame, target_array))
        }

        /// Returns true if the array is empty.
        fn array_is_empty(target_array: AnyArray) -> bool { len(frame, target_array) == 0 }

        /// Exchanges the elements at two indices.
        fn array_swap(target_array: &mut AnyArray, first: i32, second: i32) {
            let len = len(frame, target_array);
            let (first, second) = (place(frame, first, len)?, place(frame, second, len)?);
            rows_mut(frame, target_array)?.swap(first, second);
        }

        /// Reverses the order of the elements.
        fn array_reverse(target_array: &mut AnyArray) {
            let mut rows = rows_mut(frame, target_array)?;
            let len = rows.len();
            cost::add(u64::from(len));
            for at in 0..len / 2 {
                rows.swap(at, len - 1 - at);
            }
        }

        /// Returns the element at an index.
        fn array_get(target_array: AnyArray, index: i32) => AnyItem {
            let at = place(frame, index, len(frame, target_array))?;
            let (to, from) = frame.result_mut_and(target_array)?;
            let from = rows(from).get(at).expect("the index was checked");
            let ty = to.as_ptr().ty();
            if ty != from.ty() {
                return Err(CallError::other(format!("array_get: an element is a {}, not a {ty}", from.ty())));
            }
            cost::copy(to, from);
        }

        /// Overwrites the element at an index; grows the array if needed and `size_to_fit` is set.
        fn array_set(target_array: &mut AnyArray, index: i32, item: AnyItem, size_to_fit: bool = "false") {
            check_item(frame, target_array, item)?;
            if size_to_fit && index >= 0 && index as u32 >= len(frame, target_array) {
                resize_to(frame, target_array, index as u32 + 1)?;
            }
            let at = place(frame, index, len(frame, target_array))?;
            let (to, from) = frame.value_mut_and(target_array, item)?;
            if let Some(place) = array(to).expect("checked to be an array").get_mut(at) {
                cost::copy(place, from);
            }
        }

        /// Returns the average of a numeric or enum field over the structs of an array. The field is found by display name,
        /// then by name. 0 for an empty array.
        fn array_numeric_property_average(target_array: AnyArray, property: Name) -> f32 {
            let field = element_field(world, frame, target_array, property)?;
            let rows = rows(frame.value(target_array));
            cost::add(u64::from(rows.len()));
            let wrong = || problem(frame, format_args!("{} is a {}, which is not a number", field.display, field.ty));
            let sum = rows.sum(field).ok_or_else(wrong)?;
            (if rows.len() == 0 { sum } else { sum / f64::from(rows.len()) }) as f32
        }
    }
}

fn rows(at: Ptr<'_>) -> Rows<'_> {
    array_ref(at).expect("checked to be an array")
}

fn len(frame: &Frame<'_>, target: Param) -> u32 {
    rows(frame.value(target)).len()
}

fn rows_mut<'f>(frame: &'f mut Frame<'_>, target: Param) -> Result<RowsMut<'f>, CallError> {
    Ok(array(frame.value_mut(target)?).expect("checked to be an array"))
}

fn put_new(frame: &mut Frame<'_>, target: Param, item: Param, at: u32) -> Result<(), CallError> {
    check_item(frame, target, item)?;
    let (to, from) = frame.value_mut_and(target, item)?;
    replace(&mut array(to).expect("checked to be an array"), at..at, 1, |_| Some(from))
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

/// Converts an `int` to an index in the array. Fails if the index is out of range.
fn place(frame: &Frame<'_>, index: i32, len: u32) -> Result<u32, CallError> {
    let found = u32::try_from(index).ok().filter(|at| *at < len);
    found.ok_or_else(|| problem(frame, format_args!("element {index} is out of range: the array has {len}")))
}

/// Resizes an array. New elements have their initial value.
fn resize_to(frame: &mut Frame<'_>, target: Param, size: u32) -> Result<(), CallError> {
    let PropertyType::Array(of) = &frame.property(target).ty else { return Ok(()) };
    set_len(&mut rows_mut(frame, target)?, size, of.ty())
}

/// Finds a field of the elements by display name. If no display name matches, finds the field by name.
fn element_field<'a>(world: &World, frame: &Frame<'a>, target: Param, name: Name) -> Result<&'a Property, CallError> {
    let ty = &frame.property(target).ty;
    let PropertyType::Array(of) = ty else { return Err(problem(frame, format_args!("a {ty} is not an array"))) };
    let PropertyType::Struct(structure) = of.ty() else {
        return Err(problem(frame, format_args!("the elements are not structs: it is an array of {}", of.ty())));
    };
    let name = world.text(name);
    structure.displayed_field(&name).ok_or_else(|| {
        let known: Vec<_> = structure.fields().iter().map(|field| &*field.display).collect();
        problem(frame, format_args!("{} has no field `{name}`: it has {}", structure.path, known.join(", ")))
    })
}

fn sort_by(world: &World, frame: &mut Frame<'_>, target: Param, name: Name, descending: bool) -> Result<(), CallError> {
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

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(Number::Float(one)), Self::Number(Number::Float(two))) => one.total_cmp(two),
            (Self::Number(Number::Whole(one)), Self::Number(Number::Whole(two))) => one.cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Name(one), Self::Name(two)) => one.cmp(two),
            _ => Ordering::Equal,
        }
    }
}

fn position(world: &World, frame: &Frame<'_>, target: Param, item: Param) -> Result<Option<u32>, CallError> {
    check_item(frame, target, item)?;
    let (rows, item) = (rows(frame.value(target)), frame.value(item));
    cost::add(cost::of(frame.value(target)));
    let is_item = equals(world, item);
    Ok((0..rows.len()).find(|at| rows.get(*at).is_some_and(&is_item)))
}
