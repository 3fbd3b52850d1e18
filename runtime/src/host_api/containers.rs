//! Arrays, sets and maps in host memory: whatever moves or ends a value in them.
#![expect(unsafe_code, reason = "follows addresses of values")]

use alcedo_abi::values::Place;

use super::plain::{writable, wrong_kind};
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::object::containers::{self, ContainerError};
use crate::object::nested::Row;
use crate::object::property::PropertyType;

fn element<'t>(ty: &'t PropertyType, verb: &str) -> Result<&'t PropertyType, CallError> {
    match ty {
        PropertyType::Array(of) => Ok(of.ty()),
        other => Err(wrong_kind(other, verb)),
    }
}

fn row<'t>(ty: &'t PropertyType, verb: &str) -> Result<Row<'t>, CallError> {
    ty.row().ok_or_else(|| wrong_kind(ty, verb))
}

fn refused(error: ContainerError) -> CallError {
    CallError::other(error.to_string())
}

pub(super) unsafe fn array_splice(
    core: &Core,
    array: &Place,
    at: u32,
    remove: u32,
    insert: u32,
) -> Result<(), CallError> {
    let ty = writable(core, array)?;
    let element = element(&ty, "array_splice")?;
    // SAFETY: the place is that of a live array of the element's type, by the promise of the list.
    let done = unsafe { containers::array_splice(array.at.cast(), element, at, remove, insert) };
    done.map_err(refused)
}

pub(super) unsafe fn array_reserve(core: &Core, array: &Place, more: u32) -> Result<(), CallError> {
    let ty = writable(core, array)?;
    let element = element(&ty, "array_reserve")?;
    // SAFETY: the place is that of a live array of the element's type, by the promise of the list.
    let done = unsafe { containers::array_reserve(array.at.cast(), element, more) };
    done.map_err(refused)
}

pub(super) unsafe fn map_find(core: &Core, map: &Place, key: *const u8) -> Result<u32, CallError> {
    let ty = core.value_types.get(map.ty)?;
    let row = row(&ty, "map_find")?;
    // SAFETY: the place is that of a live set or map with such keys, and the address that of a live key, by the promise of
    // the list.
    Ok(unsafe { containers::map_find(map.at.cast(), row, key) }.unwrap_or(u32::MAX))
}

pub(super) unsafe fn map_insert(core: &Core, map: &Place, key: *const u8) -> Result<(u32, bool), CallError> {
    let ty = writable(core, map)?;
    let row = row(&ty, "map_insert")?;
    // SAFETY: as for `map_find`.
    unsafe { containers::map_insert(map.at.cast(), row, key) }.map_err(refused)
}

pub(super) unsafe fn map_remove(core: &Core, map: &Place, at: u32) -> Result<(), CallError> {
    let ty = writable(core, map)?;
    let row = row(&ty, "map_remove")?;
    // SAFETY: the place is that of a live set or map with such rows, by the promise of the list.
    unsafe { containers::map_remove(map.at.cast(), row, at) }.map_err(refused)
}
