//! Reads and writes references, class references and property paths in host memory.

use alcedo_abi::handles::{ClassId, Name, ObjectHandle};

use super::arguments::{Address, CallType, FieldPathAddress, ValueLocation};
use crate::boundary::{CallError, mismatch};
use crate::bridge::core::Core;
use crate::object::property::PropertyType;
use crate::object::value::Value;

pub(super) fn reference_assign(
    core: &Core,
    location: ValueLocation<'_>,
    object: ObjectHandle,
) -> Result<(), CallError> {
    write(location, |ty| core.world.reference_to(ty, object))
}

pub(super) fn reference_resolve<'c>(core: &Core, ty: CallType<'c>, at: Address<'c>) -> Result<ObjectHandle, CallError> {
    let ty = ty.known()?;
    Ok(core.world.resolve_reference(&ty, &at.of(&ty).read()))
}

pub(super) fn class_assign(core: &Core, location: ValueLocation<'_>, path: Name) -> Result<(), CallError> {
    let path = core.world.names.text(path);
    write(location, |ty| core.world.class_reference(ty, &path))
}

pub(super) fn class_resolve<'c>(core: &Core, ty: CallType<'c>, at: Address<'c>) -> Result<ClassId, CallError> {
    let ty = ty.known()?;
    Ok(core.world.resolve_class(&ty, &at.of(&ty).read()).map_or(ClassId::NONE, |class| class.id))
}

pub(super) fn field_assign(core: &Core, location: ValueLocation<'_>, path: String) -> Result<(), CallError> {
    write(location, |_| core.world.field_path(&path))
}

pub(super) fn field_type(core: &Core, at: FieldPathAddress<'_>) -> Result<Option<String>, CallError> {
    Ok(core.world.resolve_field(&at.read()).map(|property| property.ty.to_string()))
}

/// Overwrites the value at a location with the result of `make`. Fails if the owner of the value cannot currently be written.
fn write(
    location: ValueLocation<'_>,
    make: impl FnOnce(&PropertyType) -> Result<Value, CallError>,
) -> Result<(), CallError> {
    let mut target = location.open()?;
    let value = make(target.ty())?;
    target.may_write()?;
    target.ptr_mut().write(&value).map_err(|error| mismatch(&"the value", &error.expected, &error.found))
}
