//! Arrays, sets and maps in host memory: whatever moves or ends a value in them.
#![expect(
    unsafe_code,
    reason = "the shells turn raw words of the border into references, and follow addresses of values"
)]

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::host::HostRef;
use alcedo_abi::values::Place;

use crate::border::{CallError, into_module};
use crate::host_table::word;
use crate::object::containers::{self, ContainerError};
use crate::object::nested::Row;
use crate::object::property::PropertyType;
use crate::value_table::plain::{writable, wrong_kind};

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

pub(super) unsafe extern "C" fn array_splice(
    host: HostRef,
    array: &Place,
    at: u32,
    remove: u32,
    insert: u32,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("changing an array", |core| {
            let ty = writable(core, array)?;
            let element = element(&ty, "array_splice")?;
            // SAFETY: the place is that of a live array of the element's type, by the promise of the table.
            let done = unsafe { containers::array_splice(array.at.cast(), element, at, remove, insert) };
            done.map_err(refused)
        })
    })
}

pub(super) unsafe extern "C" fn array_reserve(
    host: HostRef,
    array: &Place,
    more: u32,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("making room in an array", |core| {
            let ty = writable(core, array)?;
            let element = element(&ty, "array_reserve")?;
            // SAFETY: the place is that of a live array of the element's type, by the promise of the table.
            let done = unsafe { containers::array_reserve(array.at.cast(), element, more) };
            done.map_err(refused)
        })
    })
}

pub(super) unsafe extern "C" fn map_find(
    host: HostRef,
    map: &Place,
    key: *const u8,
    out: &mut u32,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("looking for a key", |core| {
            let ty = core.value_types.get(map.ty)?;
            let row = row(&ty, "map_find")?;
            // SAFETY: the place is that of a live set or map with such keys, and the address that of a live key, by the
            // promise of the table.
            Ok(unsafe { containers::map_find(map.at.cast(), row, key) }.unwrap_or(u32::MAX))
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn map_insert(
    host: HostRef,
    map: &Place,
    key: *const u8,
    out: &mut u32,
    is_new: &mut u8,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        let (at, new) = host.enter("inserting a key", |core| {
            let ty = writable(core, map)?;
            let row = row(&ty, "map_insert")?;
            // SAFETY: as for `map_find`.
            unsafe { containers::map_insert(map.at.cast(), row, key) }.map_err(refused)
        })?;
        (*out, *is_new) = (at, new.into());
        Ok(())
    })
}

pub(super) unsafe extern "C" fn map_remove(host: HostRef, map: &Place, at: u32, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("taking out a key", |core| {
            let ty = writable(core, map)?;
            let row = row(&ty, "map_remove")?;
            // SAFETY: the place is that of a live set or map with such rows, by the promise of the table.
            unsafe { containers::map_remove(map.at.cast(), row, at) }.map_err(refused)
        })
    })
}
