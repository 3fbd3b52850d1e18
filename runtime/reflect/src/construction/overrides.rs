//! Writes overridden defaults of inherited properties, of struct fields, and of subobject properties. Only the class default object (CDO)
//! receives these defaults directly. Instances copy these defaults from the CDO.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use super::failure::StepError;
use crate::World;
use crate::class::Class;
use crate::property::PropertyType;
use crate::value::Value;

/// Writes the overridden defaults of class `turn` to an object. The subobjects of the object must exist.
pub(super) fn set_default_overrides(world: &World, object: ObjectHandle, turn: &Rc<Class>) -> Result<(), StepError> {
    turn.default_overrides.iter().try_for_each(|(path, text)| set(world, object, path, text))
}

fn set(world: &World, object: ObjectHandle, path: &str, text: &str) -> Result<(), StepError> {
    let fail = |problem: String| StepError::new(format!("the default of `{path}` cannot be {text}: {problem}"));
    let (mut at, mut names) = (object, path);
    loop {
        let class = world.objects.class(at).ok_or(CallError::Stale { handle: at })?;
        let (name, rest) = names.split_once('.').map_or((names, None), |(name, rest)| (name, Some(rest)));
        let property =
            class.find_property(name).ok_or_else(|| fail(format!("{} has no property {name}", class.short_path())))?;
        match (rest, &property.ty) {
            (None, ty) => {
                let value = Value::parse(text, ty, &world.names).map_err(|error| fail(error.to_string()))?;
                return Ok(world.objects.write_unasked(at, name, &value)?);
            }
            (Some(rest), PropertyType::Object { .. }) => {
                let part = world.objects.subobject(at, name);
                at = part.ok_or_else(|| fail(format!("{name} of {} is not a subobject", class.short_path())))?;
                names = rest;
            }
            (Some(rest), PropertyType::Struct(_)) => {
                let mut value = world.objects.read_value(at, name)?;
                let (target, ty) = field(&mut value, &property.ty, rest).map_err(fail)?;
                *target = Value::parse(text, &ty, &world.names).map_err(|error| fail(error.to_string()))?;
                return Ok(world.objects.write_unasked(at, name, &value)?);
            }
            (Some(_), ty) => return Err(fail(format!("{name} is a {ty}, in which nothing has a name"))),
        }
    }
}

/// Returns the field at `path` in a struct, with its type.
fn field<'v>(value: &'v mut Value, ty: &PropertyType, path: &str) -> Result<(&'v mut Value, PropertyType), String> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let none = || format!("{ty} has no field {name}");
    let (PropertyType::Struct(of), Value::Struct(fields)) = (ty, value) else { return Err(none()) };
    let declared = of.field(name).ok_or_else(none)?;
    let (_, target) = fields.iter_mut().find(|(known, _)| **known == *name).ok_or_else(none)?;
    match rest {
        None => Ok((target, declared.ty.clone())),
        Some(rest) => field(target, &declared.ty, rest),
    }
}
