//! Inserts elements into arrays, replaces elements, and changes the lengths of arrays. Checks the memory limits of the run.

use std::ops::Range;

use alcedo_base::boundary::CallError;
use alcedo_reflect::containers::{ContainerError, RowsMut};
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_reflect::values::ptr::Ptr;

use crate::cost;
use crate::size;

pub(crate) fn failed(error: ContainerError) -> CallError {
    CallError::other(error.to_string())
}

/// Inserts elements with this initial value.
pub(crate) fn insert_initial(
    rows: &mut RowsMut<'_>,
    at: u32,
    count: u32,
    element: &PropertyType,
) -> Result<(), CallError> {
    size::rows(rows.len(), count, element.size())?;
    rows.splice(at, 0, count).map_err(failed)?;
    if matches!(element, PropertyType::Struct(_)) {
        let initial = Value::initial(element);
        for row in at..at + count {
            if let Some(place) = rows.get_mut(row) {
                place.write(&initial).map_err(|error| CallError::other(error.found))?;
            }
        }
    }
    Ok(())
}

/// Changes the length of an array. New elements have the initial value.
pub(crate) fn set_len(rows: &mut RowsMut<'_>, new_len: u32, element: &PropertyType) -> Result<(), CallError> {
    let len = rows.len();
    if new_len > len {
        return insert_initial(rows, len, new_len - len, element);
    }
    cost::add(u64::from(len - new_len));
    rows.splice(new_len, len - new_len, 0).map_err(failed)
}

/// Replaces the elements `old` with copies of `count` values of their type. `value` returns the value at an index below `count`.
pub(crate) fn replace<'v>(
    rows: &mut RowsMut<'_>,
    old: Range<u32>,
    count: u32,
    value: impl Fn(u32) -> Option<Ptr<'v>>,
) -> Result<(), CallError> {
    let len = rows.len();
    size::rows(len - (old.end - old.start), count, value(0).map_or(0, |first| first.ty().size()))?;
    // Adds the cost of moving the elements after `old`.
    cost::add(u64::from(len.saturating_sub(old.end)));
    rows.splice(old.start, old.end - old.start, count).map_err(failed)?;
    for at in 0..count {
        if let (Some(place), Some(value)) = (rows.get_mut(old.start + at), value(at)) {
            cost::copy(place, value);
        }
    }
    Ok(())
}
