//! Operations on values of any type, and conversion of type strings to ids.

use alcedo_abi::handles::TypeNumber;

use super::arguments::{Address, CallType, ValueLocation};
use crate::boundary::CallError;
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::object::value::Value;
use crate::object::values::fix_fields;

pub(super) fn type_resolve(core: &Core, module: ModuleId, text: String) -> Result<TypeNumber, CallError> {
    core.value_types.number(&core.world.types, module, &text)
}

pub(super) fn copy<'c>(core: &Core, to: ValueLocation<'c>, from: Address<'c>) -> Result<(), CallError> {
    let mut to = to.writable()?;
    from.of(to.ty()).count().map_or(Ok(()), |len| to.may_have(len))?;
    let mark = core.world.broadcasts.before_write(to.ptr_mut());
    let (mut target, ty) = to.with_type();
    target.reborrow().copy_from(from.of(ty));
    fix_fields(target);
    core.world.broadcasts.after_write(mark, to.ptr());
    Ok(())
}

pub(super) fn equal<'c>(_core: &Core, ty: CallType<'c>, one: Address<'c>, two: Address<'c>) -> Result<bool, CallError> {
    let ty = ty.known()?;
    Ok(one.of(&ty).equal(two.of(&ty)))
}

pub(super) fn hash<'c>(_core: &Core, ty: CallType<'c>, at: Address<'c>) -> Result<u64, CallError> {
    Ok(at.of(&ty.known()?).hashed())
}

pub(super) fn print<'c>(core: &Core, ty: CallType<'c>, at: Address<'c>) -> Result<String, CallError> {
    Ok(at.of(&ty.known()?).read().print(&core.world.names))
}

pub(super) fn parse(core: &Core, location: ValueLocation<'_>, text: String) -> Result<(), CallError> {
    let mut target = location.writable()?;
    let ty = target.ty();
    let value = Value::parse(&text, ty, &core.world.names);
    let value = value.map_err(|error| CallError::other(error.to_string()))?;
    core.world.check_objects(ty, &value, || format!("a {} read from text", **ty))?;
    if let Value::Array(values) = &value {
        target.may_have(u32::try_from(values.len()).unwrap_or(u32::MAX))?;
    }
    conjugates::overwrite(core, target.ptr_mut(), &value)
}

pub(super) fn clear(core: &Core, location: ValueLocation<'_>) -> Result<(), CallError> {
    let mut target = location.writable()?;
    target.may_have(0)?;
    let mark = core.world.broadcasts.before_write(target.ptr_mut());
    target.ptr_mut().destroy();
    core.world.broadcasts.after_write(mark, target.ptr());
    Ok(())
}
