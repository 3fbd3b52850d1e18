//! Arrays, sets and maps in host memory: whatever moves or ends a value in them.
#![expect(unsafe_code, reason = "follows addresses of values")]

use alcedo_abi::values::ValuePlace;

use super::plain::{writable, wrong_kind};
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::object::containers::{self, ContainerError};
use crate::object::values::ptr::{Ptr, PtrMut};

fn refused(error: ContainerError) -> CallError {
    CallError::other(error.to_string())
}

pub(super) unsafe fn array_splice(
    core: &Core,
    array: &ValuePlace,
    at: u32,
    remove: u32,
    insert: u32,
) -> Result<(), CallError> {
    let ty = writable(core, array)?;
    // SAFETY: the place is that of a live value of the type, by the promise of the list.
    let value = unsafe { PtrMut::new(array.at, &ty) };
    let mut rows = containers::array(value).ok_or_else(|| wrong_kind(&ty, "array_splice"))?;
    rows.splice(at, remove, insert).map_err(refused)
}

pub(super) unsafe fn array_reserve(core: &Core, array: &ValuePlace, more: u32) -> Result<(), CallError> {
    let ty = writable(core, array)?;
    // SAFETY: the place is that of a live value of the type, by the promise of the list.
    let value = unsafe { PtrMut::new(array.at, &ty) };
    let mut rows = containers::array(value).ok_or_else(|| wrong_kind(&ty, "array_reserve"))?;
    rows.reserve(more).map_err(refused)
}

pub(super) unsafe fn map_find(core: &Core, map: &ValuePlace, key: *const u8) -> Result<u32, CallError> {
    let ty = core.value_types.get(map.ty)?;
    // SAFETY: the place is that of a live value of the type, and the address that of a live key of it, by the promise of the list.
    unsafe {
        let map = containers::keyed(Ptr::new(map.at, &ty)).ok_or_else(|| wrong_kind(&ty, "map_find"))?;
        Ok(map.find(Ptr::new(key, map.key_type())).unwrap_or(u32::MAX))
    }
}

pub(super) unsafe fn map_insert(core: &Core, map: &ValuePlace, key: *const u8) -> Result<(u32, bool), CallError> {
    let ty = writable(core, map)?;
    // SAFETY: the place is that of a live value of the type, and the address that of a live key of it, which may lie in the map
    // itself, by the promise of the list.
    unsafe {
        let map = containers::keyed_mut(PtrMut::new(map.at, &ty)).ok_or_else(|| wrong_kind(&ty, "map_insert"));
        let mut map = map?;
        map.insert(Ptr::new(key, map.key_type())).map_err(refused)
    }
}

pub(super) unsafe fn map_remove(core: &Core, map: &ValuePlace, at: u32) -> Result<(), CallError> {
    let ty = writable(core, map)?;
    // SAFETY: the place is that of a live value of the type, by the promise of the list.
    let value = unsafe { PtrMut::new(map.at, &ty) };
    containers::keyed_mut(value).ok_or_else(|| wrong_kind(&ty, "map_remove"))?.remove(at).map_err(refused)
}
