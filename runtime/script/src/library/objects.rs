//! What is known of any object: `Outer` and `Name` of the language.

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::border::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl};
use alcedo_reflect::thunk::Frame;
use alcedo_reflect::value::Value;

use super::build::{pure, result};

/// The functions, for objects of that class, which is the root of all.
pub(super) fn functions(root: &str) -> Vec<FunctionDecl> {
    let object = || PropertyDecl::new("object", PropertyKind::OBJECT).of_type(root);
    let outer = PropertyDecl::result(PropertyKind::OBJECT).of_type(root);
    vec![
        pure(
            "outer_of",
            "The object that an object lies in; none for one that stands alone.",
            vec![object(), outer],
            outer_of,
        ),
        pure("name_of", "The name of an object; that of none is empty.", vec![object(), result::<Name>()], name_of),
    ]
}

fn taken(frame: &mut Frame<'_>) -> Result<ObjectHandle, CallError> {
    let object = match frame.take_value()? {
        Value::Object(object) => object,
        _ => ObjectHandle::NONE,
    };
    frame.finish()?;
    Ok(object)
}

fn outer_of(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let object = taken(frame)?;
    frame.give_value(&Value::Object(world.objects.outer(object).unwrap_or(ObjectHandle::NONE)))
}

fn name_of(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let object = taken(frame)?;
    frame.give_result(world.objects.name(object).unwrap_or_default())
}
