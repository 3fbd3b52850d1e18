//! What is done with a value of any type, and how a type gets its number.
#![expect(unsafe_code, reason = "follows addresses of values")]

use alcedo_abi::handles::TypeNumber;
use alcedo_abi::values::ValuePlace;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::object::values::ptr::{Ptr, PtrMut};

/// The type of a place that is about to be written, if it may be.
pub(super) fn writable(core: &Core, place: &ValuePlace) -> Result<PropertyType, CallError> {
    let ty = core.value_types.get(place.ty)?;
    if !place.owner.is_none() {
        core.world.objects.may_write(place.owner)?;
    }
    Ok(ty)
}

/// That a place is of a kind that a verb is for.
pub(super) fn wrong_kind(ty: &PropertyType, verb: &str) -> CallError {
    CallError::Signature { name: verb.to_owned(), found: ty.to_string(), wanted: format!("what {verb} is for") }
}

pub(super) fn type_resolve(core: &Core, module: ModuleId, text: String) -> Result<TypeNumber, CallError> {
    core.value_types.number(&core.world.types, module, &text)
}

pub(super) unsafe fn copy(core: &Core, to: &ValuePlace, from: *const u8) -> Result<(), CallError> {
    let ty = writable(core, to)?;
    // SAFETY: the place and the address are those of live values of the type, by the promise of the list.
    unsafe { PtrMut::new(to.at, &ty).copy_from(Ptr::new(from, &ty)) };
    Ok(())
}

pub(super) unsafe fn equal(core: &Core, ty: TypeNumber, one: *const u8, two: *const u8) -> Result<bool, CallError> {
    let ty = core.value_types.get(ty)?;
    // SAFETY: the addresses are those of live values of the type, by the promise of the list.
    Ok(unsafe { Ptr::new(one, &ty).equal(Ptr::new(two, &ty)) })
}

pub(super) unsafe fn hash(core: &Core, ty: TypeNumber, at: *const u8) -> Result<u64, CallError> {
    let ty = core.value_types.get(ty)?;
    // SAFETY: the address is that of a live value of the type, by the promise of the list.
    Ok(unsafe { Ptr::new(at, &ty) }.hashed())
}

pub(super) unsafe fn print(core: &Core, ty: TypeNumber, at: *const u8) -> Result<String, CallError> {
    let ty = core.value_types.get(ty)?;
    // SAFETY: the address is that of a live value of the type, by the promise of the list.
    Ok(unsafe { Ptr::new(at, &ty) }.read().print(&core.world.names))
}

pub(super) unsafe fn parse(core: &Core, place: &ValuePlace, text: String) -> Result<(), CallError> {
    let ty = writable(core, place)?;
    let value = Value::parse(&text, &ty, &core.world.names);
    let value = value.map_err(|error| CallError::other(error.to_string()))?;
    core.world.check_objects(&ty, &value, || format!("a {ty} read from text"))?;
    // SAFETY: the place is that of a live value of the type, by the promise of the list.
    let written = unsafe { PtrMut::new(place.at, &ty) }.write(&value);
    written.map_err(|error| CallError::other(error.to_string()))
}

pub(super) unsafe fn clear(core: &Core, place: &ValuePlace) -> Result<(), CallError> {
    let ty = writable(core, place)?;
    // SAFETY: the place is that of a live value of the type, by the promise of the list.
    unsafe { PtrMut::new(place.at, &ty) }.destroy();
    Ok(())
}
