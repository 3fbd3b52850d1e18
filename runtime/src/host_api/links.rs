//! References, classes and properties by path.
#![expect(unsafe_code, reason = "follows places of values")]

use alcedo_abi::handles::{ClassId, Name, ObjectHandle, TypeNumber};
use alcedo_abi::values::ValuePlace;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::object::values::ptr::{Ptr, PtrMut};

pub(super) unsafe fn reference_assign(core: &Core, place: &ValuePlace, object: ObjectHandle) -> Result<(), CallError> {
    // SAFETY: the list has a live value of the type at the place.
    unsafe { write(core, place, |ty| core.world.reference_to(ty, object)) }
}

pub(super) unsafe fn reference_resolve(core: &Core, ty: TypeNumber, at: *const u8) -> Result<ObjectHandle, CallError> {
    let ty = core.value_types.get(ty)?;
    // SAFETY: the list has a live value of the type there.
    let value = unsafe { Ptr::new(at, &ty) }.read();
    Ok(core.world.resolve_reference(&ty, &value))
}

pub(super) unsafe fn class_assign(core: &Core, place: &ValuePlace, path: Name) -> Result<(), CallError> {
    let path = core.world.names.text(path);
    // SAFETY: the list has a live value of the type at the place.
    unsafe { write(core, place, |ty| core.world.class_reference(ty, &path)) }
}

pub(super) unsafe fn class_resolve(core: &Core, ty: TypeNumber, at: *const u8) -> Result<ClassId, CallError> {
    let ty = core.value_types.get(ty)?;
    // SAFETY: the list has a live value of the type there.
    let value = unsafe { Ptr::new(at, &ty) }.read();
    Ok(core.world.resolve_class(&ty, &value).map_or(ClassId::NONE, |class| class.id))
}

pub(super) unsafe fn field_assign(core: &Core, place: &ValuePlace, path: String) -> Result<(), CallError> {
    // SAFETY: the list has a live value of the type at the place.
    unsafe { write(core, place, |_| core.world.field_path(&path)) }
}

pub(super) unsafe fn field_type(core: &Core, at: *const u8) -> Result<Option<String>, CallError> {
    // SAFETY: the list has a live field path there.
    let path = unsafe { Ptr::new(at, &PropertyType::FieldPath) }.read();
    Ok(core.world.resolve_field(&path).map(|property| property.ty.to_string()))
}

/// Overwrites the value at a place by what `make` makes for its type, if its owner may be written now.
///
/// # Safety
/// There is a live value of the type at the place.
unsafe fn write(
    core: &Core,
    place: &ValuePlace,
    make: impl FnOnce(&PropertyType) -> Result<Value, CallError>,
) -> Result<(), CallError> {
    let ty = core.value_types.get(place.ty)?;
    let value = make(&ty)?;
    if !place.owner.is_none() {
        core.world.objects.may_write(place.owner)?;
    }
    // SAFETY: the caller promises it; nobody else reads or writes while this runs.
    let written = unsafe { PtrMut::new(place.at, &ty) }.write(&value);
    written.map_err(|error| CallError::Signature {
        name: "the value".to_owned(),
        found: error.wanted,
        wanted: error.found,
    })
}
