//! Library functions for objects and classes of any kind. `Outer` and `Name` of the script language are two of them.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::decl::{FunctionDecl, PropertyDecl};
use alcedo_reflect::thunk::Frame;
use alcedo_reflect::value::Value;

use super::build::{Body, Declared as _, param, pure, result};
use crate::cost;
use crate::value::{handle, name, object_of};

/// Returns the declarations of these functions. Object parameters accept any object of the class `root`.
pub(super) fn functions(root: &str) -> Vec<FunctionDecl> {
    let class = |name: &str| PropertyDecl::new(name, PropertyKind::SUBCLASS_OF).of_type(root);
    let object = || PropertyDecl::new("object", PropertyKind::OBJECT).of_type(root);
    let result_of = |kind| PropertyDecl::result(kind).of_type(root);
    let outer = result_of(PropertyKind::OBJECT);
    let may_fail = || {
        let mut param = param::<bool>("may_fail");
        param.meta.push(("optional".to_owned(), "true".to_owned()));
        param
    };
    let loads = |name: &str, doc: &str, params: Vec<PropertyDecl>, body: Body| {
        let mut found = pure(name, doc, params, body);
        found.meta.push(("determines_output_type".to_owned(), "object_class".to_owned()));
        found
    };
    vec![
        pure("outer_of", "Returns the outer of an object, or none.", vec![object(), outer], outer_of),
        pure(
            "is_a",
            "Returns true if an object is of the named class or a subclass.",
            vec![object(), param::<Name>("class_name"), result::<bool>()],
            is_a,
        ),
        pure(
            "class_is_child_of",
            "Returns true if a class equals another class or is a subclass.",
            vec![class("test_class"), class("parent_class"), result::<bool>()],
            class_is_child_of,
        ),
        loads(
            "dynamic_load_object",
            "Returns the loaded object of a path and class (or subclass), or none.",
            vec![param::<String>("object_name"), class("object_class"), may_fail(), result_of(PropertyKind::OBJECT)],
            dynamic_load_object,
        ),
        loads(
            "dynamic_load_class",
            "Returns the loaded class of a path, `Package.Name`, or none.",
            vec![param::<String>("class_name"), may_fail(), result_of(PropertyKind::SUBCLASS_OF)],
            dynamic_load_class,
        ),
        pure("name_of", "Returns the name of an object; empty for none.", vec![object(), result::<Name>()], name_of),
    ]
}

fn object_argument(frame: &mut Frame<'_>) -> Result<ObjectHandle, CallError> {
    let object = handle(&frame.take_value()?);
    frame.finish()?;
    Ok(object)
}

/// Reads the next argument, a class.
fn class_argument(world: &World, frame: &mut Frame<'_>) -> Result<Option<Rc<Class>>, CallError> {
    let path = name(&frame.take_value()?);
    Ok(world.types.class_by_path(&world.text(path)))
}

fn outer_of(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let object = object_argument(frame)?;
    frame.set_result_value(&Value::Object(world.objects.outer(object).unwrap_or(ObjectHandle::NONE)))
}

fn name_of(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let object = object_argument(frame)?;
    frame.set_result(world.objects.name(object).unwrap_or_default())
}

fn dynamic_load_object(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let path = frame.take::<String>()?;
    let class = class_argument(world, frame)?;
    let _may_fail = frame.take::<bool>()?;
    frame.finish()?;
    cost::add(path.cost());
    let object = world.object_at(&path).unwrap_or_else(|| object_of(&path, world));
    let is_it = world.objects.class(object).zip(class).is_some_and(|(of, class)| of.is_a(&class));
    frame.set_result_value(&Value::Object(if is_it { object } else { ObjectHandle::NONE }))
}

fn dynamic_load_class(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let path = frame.take::<String>()?;
    let _may_fail = frame.take::<bool>()?;
    frame.finish()?;
    let path = if path.starts_with('/') { path } else { format!("/Script/{path}") };
    let class = world.types.class_by_path(&path).or_else(|| {
        let classes = world.types.classes();
        cost::add(classes.len() as u64 + path.cost());
        classes.into_iter().find(|class| class.path.eq_ignore_ascii_case(&path))
    });
    let class = class.map_or(Name::default(), |class| world.names.intern(&class.path));
    frame.set_result_value(&Value::SubclassOf(class))
}

fn is_a(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let object = handle(&frame.take_value()?);
    let name = frame.take::<Name>()?;
    frame.finish()?;
    let name = world.text(name);
    let class = world.objects.class(object);
    frame.set_result(class.is_some_and(|class| class.lineage().any(|of| of.name.eq_ignore_ascii_case(&name))))
}

fn class_is_child_of(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (test, parent) = (class_argument(world, frame)?, class_argument(world, frame)?);
    frame.finish()?;
    frame.set_result(test.zip(parent).is_some_and(|(test, parent)| test.is_a(&parent)))
}
