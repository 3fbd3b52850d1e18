//! What is known of any object: `Outer` and `Name` of the language.

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::border::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl};
use alcedo_reflect::thunk::Frame;
use alcedo_reflect::value::Value;

use super::build::{param, pure, result};

/// The functions, for objects of that class, which is the root of all.
pub(super) fn functions(root: &str) -> Vec<FunctionDecl> {
    let class = |name: &str| PropertyDecl::new(name, PropertyKind::SUBCLASS_OF).of_type(root);
    let object = || PropertyDecl::new("object", PropertyKind::OBJECT).of_type(root);
    let outer = PropertyDecl::result(PropertyKind::OBJECT).of_type(root);
    vec![
        pure(
            "outer_of",
            "The object that an object lies in; none for one that stands alone.",
            vec![object(), outer],
            outer_of,
        ),
        pure(
            "is_a",
            "Whether an object is of the class of that name, or of one below it.",
            vec![object(), param::<Name>("class_name"), result::<bool>()],
            is_a,
        ),
        pure(
            "class_is_child_of",
            "Whether a class is another one, or below it.",
            vec![class("test_class"), class("parent_class"), result::<bool>()],
            class_is_child_of,
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

fn is_a(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let object = match frame.take_value()? {
        Value::Object(object) => object,
        _ => ObjectHandle::NONE,
    };
    let name = frame.take::<Name>()?;
    frame.finish()?;
    let name = world.text(name);
    let class = world.objects.class(object);
    frame.give_result(class.is_some_and(|class| class.lineage().any(|of| of.name.eq_ignore_ascii_case(&name))))
}

fn class_is_child_of(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let mut class = || match frame.take_value() {
        Ok(Value::SubclassOf(path)) => Ok(world.types.class_by_path(&world.text(path))),
        Ok(_) => Ok(None),
        Err(error) => Err(error),
    };
    let (test, parent) = (class()?, class()?);
    frame.finish()?;
    frame.give_result(test.zip(parent).is_some_and(|(test, parent)| test.is_a(&parent)))
}
