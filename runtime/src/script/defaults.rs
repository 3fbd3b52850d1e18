//! Applies `defaultproperties` of a script class to the class default object. The lines are applied in order, after the values of the base
//! class. New objects of the class then start with the resulting values.

use alcedo_script::named_object;
use alcedo_uc::hir::{Class, Const, Default, DefaultAction};

use crate::boundary::CallError;
use crate::handles::ObjectHandle;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::object::{World, listed};
use crate::script::text::{Named, of_const};

/// Lines of `defaultproperties` for a class, and lines for the subobjects that the class declares or changes.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    own: Vec<Default>,
    subobjects: Vec<(String, Vec<Default>)>,
}

impl Defaults {
    /// Returns the defaults of a class. Returns `None` if the class has no defaults.
    pub(crate) fn of(class: &Class) -> Option<Self> {
        let subobjects = class.subobjects.iter().map(|found| (found.name.clone(), found.defaults.clone()));
        let defaults = Self { own: class.defaults.clone(), subobjects: subobjects.collect() };
        (!defaults.own.is_empty() || !defaults.subobjects.is_empty()).then_some(defaults)
    }

    /// Applies the lines to the class default object.
    ///
    /// # Errors
    /// Returns an error with the first line that fails, and the reason for the failure.
    pub(crate) fn apply(&self, world: &World, object: ObjectHandle) -> Result<(), String> {
        for (name, lines) in &self.subobjects {
            let part = world.objects.subobject(object, name);
            let part =
                part.ok_or_else(|| format!("its class has no subobject {name}: write `Class=` after `Begin Object`"))?;
            lines.iter().try_for_each(|line| apply(world, object, part, line))?;
        }
        self.own.iter().try_for_each(|line| apply(world, object, object, line))
    }
}

/// Formats an object to which a default refers. `owner` is the class default object, and `itself` is the object with the
/// property.
fn print(world: &World, owner: ObjectHandle, itself: ObjectHandle, named: Named<'_>) -> String {
    let found = match named {
        Named::Itself => Some(itself),
        Named::Owner => Some(owner),
        Named::Subobject(name) => world.objects.subobject(owner, name),
    };
    Value::Object(found.unwrap_or(ObjectHandle::NONE)).print(&world.names)
}

/// Formats a constant for [`Value::parse`] with the type `ty`. The text of an existing object is the handle, the path or the id that a
/// reference of its type contains, also inside containers and structs.
fn text(
    world: &World,
    value: &Const,
    ty: &PropertyType,
    named: &dyn Fn(Named<'_>) -> String,
) -> Result<String, CallError> {
    let inner = |value: &Const, ty: &PropertyType| text(world, value, ty, named);
    match (value, ty) {
        (Const::None, ty) => Ok(Value::zero(ty).print(&world.names)),
        (value, PropertyType::Optional(of)) => inner(value, of.ty()).map(|value| format!("some({value})")),
        (Const::Object(class, name), ty) => {
            world.refer(ty, existing(world, class, name)).map(|value| value.print(&world.names))
        }
        (Const::Array(values) | Const::Elements(values, _), PropertyType::Array(of) | PropertyType::Set(of)) => {
            try_listed(values.iter().map(|value| inner(value, of.ty())))
        }
        (Const::Array(pairs), PropertyType::Map(of)) => try_listed(pairs.iter().map(|pair| match pair {
            Const::Array(pair) => {
                try_listed(pair.iter().zip([of.key(), of.value()]).map(|(value, ty)| inner(value, ty)))
            }
            other => Ok(of_const(other, named)),
        })),
        (Const::Struct(fields), PropertyType::Struct(of)) => try_listed(fields.iter().map(|(name, value)| {
            let value = of.field(name).map_or_else(|| Ok(of_const(value, named)), |field| inner(value, &field.ty));
            value.map(|value| format!("{name}={value}"))
        })),
        _ => Ok(of_const(value, named)),
    }
}

/// Variant of [`listed`] that returns the first error of a part.
fn try_listed(parts: impl Iterator<Item = Result<String, CallError>>) -> Result<String, CallError> {
    parts.collect::<Result<Vec<_>, _>>().map(|parts| listed(parts.into_iter()))
}

/// Finds an object by its class and name. Logs a warning and returns the none handle if no object of this class has this name.
fn existing(world: &World, class: &str, name: &str) -> ObjectHandle {
    let found = named_object(class, name, world);
    if found.is_none() {
        log!(WARN, class, name, "no object of this class has the name in `defaultproperties`: the value is none");
    }
    found
}

/// Reads a value with `read`. Fields of a struct that the value does not name, and elements of an array that the value does not set, keep
/// their values in `before`. A value without fields is the initial value of the struct.
fn merged(
    before: &Value,
    value: &Const,
    ty: &PropertyType,
    read: &dyn Fn(&Const, &PropertyType) -> Result<Value, String>,
) -> Result<Value, String> {
    match (before, value, ty) {
        (Value::Struct(fields), Const::Struct(named), PropertyType::Struct(of)) if !named.is_empty() => {
            let mut fields = fields.clone();
            for (name, inner) in named {
                let place = fields.iter_mut().find(|(known, _)| **known == **name);
                let (Some((_, place)), Some(field)) = (place, of.field(name)) else { return read(value, ty) };
                *place = merged(place, inner, &field.ty, read)?;
            }
            Ok(Value::Struct(fields))
        }
        (Value::Array(row), Const::Elements(values, set), PropertyType::Array(of)) => {
            let mut row = row.clone();
            for added in values.get(row.len()..).unwrap_or_default() {
                row.push(read(added, of.ty())?);
            }
            for at in set.iter().map(|at| *at as usize) {
                row[at] = merged(&row[at], &values[at], of.ty(), read)?;
            }
            Ok(Value::Array(row))
        }
        _ => read(value, ty),
    }
}

fn apply(world: &World, owner: ObjectHandle, object: ObjectHandle, line: &Default) -> Result<(), String> {
    let message = |error: &dyn std::fmt::Display| format!("line {}: {} {error}", line.line, line.property);
    let class = world.objects.class(object).ok_or_else(|| message(&"belongs to a destroyed object"))?;
    let property = class.find_property(&line.property).ok_or_else(|| message(&"no longer exists"))?;
    let named = |named: Named<'_>| print(world, owner, object, named);
    let read = |value: &Const, ty: &PropertyType| {
        let text = text(world, value, ty, &named).map_err(|error| message(&error))?;
        Value::parse(&text, ty, &world.names).map_err(|error| message(&error))
    };
    let now = || world.objects.read_value(object, &*line.property).map_err(|error| message(&error));
    let value = match (&line.action, &property.ty) {
        (DefaultAction::Set(value @ Const::Struct(_)), ty) => merged(&now()?, value, ty, &read)?,
        (DefaultAction::Set(value), ty) => read(value, ty)?,
        (action, PropertyType::Array(of)) => {
            let Value::Array(mut row) = now()? else { return Err(message(&"is not an array")) };
            let element = of.ty();
            match action {
                DefaultAction::Set(_) => {}
                DefaultAction::SetElement(at, value) => {
                    let at = *at as usize;
                    while row.len() <= at {
                        row.push(Value::initial(element));
                    }
                    row[at] = merged(&row[at], value, element, &read)?;
                }
                DefaultAction::Add(value) => row.push(read(value, element)?),
                DefaultAction::Remove(value) => {
                    let gone = read(value, element)?;
                    row.retain(|value| *value != gone);
                }
                DefaultAction::RemoveIndex(at) if (*at as usize) < row.len() => drop(row.remove(*at as usize)),
                DefaultAction::RemoveIndex(_) => {}
                DefaultAction::Empty => row.clear(),
            }
            Value::Array(row)
        }
        _ => return Err(message(&"is not an array")),
    };
    world.objects.write_unasked(object, &line.property, &value).map_err(|error| message(&error))
}
