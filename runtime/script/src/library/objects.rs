//! Library functions for objects and classes of any kind. The script properties `Outer` and `Name` call two of these functions.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::class::Class;
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::typed_values::words::SubclassOf;

use super::build::library;
use crate::cost;
use crate::value::object_of;

/// Returns the declarations of the functions. Object parameters accept any object of the class `root`.
pub(super) fn functions(root: &str) -> Vec<FunctionDecl> {
    let mut functions = library! { world, frame:
        /// Returns the outer of an object, or none.
        fn outer_of(object: ObjectHandle) -> ObjectHandle { world.outer_of(object).unwrap_or(ObjectHandle::NONE) }

        /// Returns true if an object is of the named class or a subclass.
        fn is_a(object: ObjectHandle, class_name: Name) -> bool {
            let (class, name) = (world.objects.class(object), world.text(class_name));
            class.is_some_and(|class| class.lineage().any(|of| of.name.eq_ignore_ascii_case(&name)))
        }

        /// Returns true if a class equals another class or is a subclass.
        fn class_is_child_of(test_class: SubclassOf, parent_class: SubclassOf) -> bool {
            let (test, parent) = (class_of(world, test_class), class_of(world, parent_class));
            test.zip(parent).is_some_and(|(test, parent)| test.is_a(&parent))
        }

        /// Returns the loaded object of a path and class (or subclass), or none.
        fn dynamic_load_object(object_name: String, object_class: SubclassOf, may_fail: bool) -> ObjectHandle {
            let _ = may_fail;
            let object = world.object_at(&object_name).unwrap_or_else(|| object_of(&object_name, world));
            let (of, class) = (world.objects.class(object), class_of(world, object_class));
            let is_it = of.zip(class).is_some_and(|(of, class)| of.is_a(&class));
            if is_it { object } else { ObjectHandle::NONE }
        }

        /// Returns the loaded class of a path, `Package.Name`, or none.
        fn dynamic_load_class(class_name: String, may_fail: bool) -> SubclassOf {
            let _ = may_fail;
            let path = if class_name.starts_with('/') { class_name } else { format!("/Script/{class_name}") };
            let class = world.types.class_by_path(&path).or_else(|| {
                let classes = world.types.classes();
                cost::add(classes.len() as u64);
                classes.into_iter().find(|class| class.path.eq_ignore_ascii_case(&path))
            });
            SubclassOf(class.map_or(Name::default(), |class| world.names.intern(&class.path)))
        }

        /// Returns the name of an object; empty for none.
        fn name_of(object: ObjectHandle) -> Name { world.objects.name(object).unwrap_or_default() }
    };
    for function in &mut functions {
        for param in &mut function.params {
            if matches!(param.kind, PropertyKind::OBJECT | PropertyKind::SUBCLASS_OF) {
                param.type_path = root.to_owned();
            }
            if param.name == "may_fail" {
                param.meta.push(("optional".to_owned(), "true".to_owned()));
                function.meta.push(("determines_output_type".to_owned(), "object_class".to_owned()));
            }
        }
    }
    functions
}

fn class_of(world: &World, class: SubclassOf) -> Option<Rc<Class>> {
    world.types.class_by_path(&world.names.text(class.0))
}
