//! Inserts elements with initial values into arrays, and changes the lengths of arrays. Checks the memory limits of the run.

use alcedo_base::boundary::CallError;
use alcedo_reflect::containers::{ContainerError, RowsMut};
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;

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
    if new_len >= len {
        return insert_initial(rows, len, new_len - len, element);
    }
    cost::add(u64::from(len - new_len));
    rows.splice(new_len, len - new_len, 0).map_err(failed)
}
