//! Operations that move or drop elements of arrays, sets and maps in host memory.

use super::arguments::{KeyAddress, LiveValue, ValueLocation, wrong_kind};
use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::object::containers::{self, ContainerError, RowsMut};

fn refused(error: ContainerError) -> CallError {
    CallError::other(error.to_string())
}

pub(super) fn array_splice(
    _core: &Core,
    array: ValueLocation<'_>,
    at: u32,
    remove: u32,
    insert: u32,
) -> Result<(), CallError> {
    let array = array.writable()?;
    // `splice` refuses a range that the array does not have.
    let len = array.ptr().count().and_then(|len| len.checked_sub(remove)?.checked_add(insert));
    len.map_or(Ok(()), |len| array.may_have(len))?;
    change_rows(array, "array_splice", |mut rows| rows.splice(at, remove, insert))
}

pub(super) fn array_reserve(_core: &Core, array: ValueLocation<'_>, more: u32) -> Result<(), CallError> {
    change_rows(array.writable()?, "array_reserve", |mut rows| rows.reserve(more))
}

fn change_rows(
    mut array: LiveValue<'_>,
    verb: &str,
    change: impl FnOnce(RowsMut<'_>) -> Result<(), ContainerError>,
) -> Result<(), CallError> {
    let (value, ty) = array.with_type();
    change(containers::array(value).ok_or_else(|| wrong_kind(ty, verb))?).map_err(refused)
}

pub(super) fn map_find<'c>(_core: &Core, map: ValueLocation<'c>, key: KeyAddress<'c>) -> Result<u32, CallError> {
    let map = map.open()?;
    let (rows, key) =
        containers::keyed(map.ptr()).zip(key.of(map.ty())).ok_or_else(|| wrong_kind(map.ty(), "map_find"))?;
    Ok(rows.find(key).unwrap_or(u32::MAX))
}

pub(super) fn map_insert<'c>(
    _core: &Core,
    map: ValueLocation<'c>,
    key: KeyAddress<'c>,
) -> Result<(u32, bool), CallError> {
    let mut map = map.writable()?;
    let (value, ty) = map.with_type();
    let (mut rows, key) = containers::keyed_mut(value).zip(key.of(ty)).ok_or_else(|| wrong_kind(ty, "map_insert"))?;
    rows.insert(key).map_err(refused)
}

pub(super) fn map_remove(_core: &Core, map: ValueLocation<'_>, at: u32) -> Result<(), CallError> {
    let mut map = map.writable()?;
    let (value, ty) = map.with_type();
    containers::keyed_mut(value).ok_or_else(|| wrong_kind(ty, "map_remove"))?.remove(at).map_err(refused)
}
