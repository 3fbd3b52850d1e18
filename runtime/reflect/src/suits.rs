//! Checks the classes of the objects in a value. Statically typed code does not need these checks. An entry point that receives the name of
//! a member and a value makes the checks before it writes the value or passes the value to a function.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::class::Class;
use crate::kind_list::of_type;
use crate::property::{Property, PropertyType};
use crate::value::Value;
use crate::values::{Content as _, Kind as _};

/// Function that returns the class of an object. The function returns `None` if the object needs no check.
pub(crate) type ClassOf<'a> = dyn Fn(ObjectHandle) -> Option<Rc<Class>> + 'a;

impl World {
    /// Checks that every object in `value` has the class, or implements the interface, that `ty` requires. Accepts `NONE` and destroyed
    /// objects. Also accepts references by path or id, because their resolution checks the objects. `place` returns the location for the
    /// error.
    ///
    /// # Errors
    /// Returns [`CallError::WrongClass`] for the first object of an unsuitable class.
    pub fn check_objects(
        &self,
        ty: &PropertyType,
        value: &Value,
        place: impl FnOnce() -> String,
    ) -> Result<(), CallError> {
        self.check_objects_as(ty, value, place, &|object| self.objects.class(object))
    }

    /// Variant of [`World::check_objects`] that obtains the classes of objects from `class_of`. Accepts objects for which `class_of`
    /// returns `None`.
    ///
    /// # Errors
    /// Returns the errors of [`World::check_objects`].
    pub fn check_objects_as(
        &self,
        ty: &PropertyType,
        value: &Value,
        place: impl FnOnce() -> String,
        class_of: &ClassOf<'_>,
    ) -> Result<(), CallError> {
        if !ty.names_objects() {
            return Ok(());
        }
        let mut inside = String::new();
        let refused = self.walk(ty, value, &mut inside, class_of);
        refused.map_err(|error| match error {
            CallError::WrongClass { handle, found, expected, .. } => {
                CallError::WrongClass { place: place() + &inside, handle, found, expected }
            }
            other => other,
        })
    }

    /// Checks the objects in the value of a property, field or parameter. The error contains the path of the property.
    ///
    /// # Errors
    /// Returns the errors of [`World::check_objects`].
    pub fn check_objects_of(&self, property: &Property, value: &Value) -> Result<(), CallError> {
        self.check_objects(&property.ty, value, || property.path())
    }

    /// Variant of [`World::check_objects_of`] that also accepts dormant objects. A reload and a load keep references to these
    /// objects, whose class is missing.
    ///
    /// # Errors
    /// Returns the errors of [`World::check_objects`].
    pub fn check_awake_objects_of(&self, property: &Property, value: &Value) -> Result<(), CallError> {
        let class_of = |object| self.objects.awake_class(object);
        self.check_objects_as(&property.ty, value, || property.path(), &class_of)
    }

    /// Checks a value and all values inside the value. If a check fails, `inside` receives the location of the rejected value. The object
    /// of a delegate is checked only at calls of the delegate.
    fn walk(
        &self,
        ty: &PropertyType,
        value: &Value,
        inside: &mut String,
        class_of: &ClassOf<'_>,
    ) -> Result<(), CallError> {
        of_type!(ty, K, of => {
            // The caller reports values of an unexpected kind.
            let Some(content) = K::get(value) else { return Ok(()) };
            // `NONE` and destroyed objects have no class.
            let target = K::resolves_to(content).and_then(|object| Some((object, class_of(object)?)));
            if let Some((object, class)) = target {
                return self.check_class_suits(ty, object, &class);
            }
            K::each_part(of, content, &mut |part, ty, value| {
                let mut below = String::new();
                let checked = if ty.names_objects() { self.walk(ty, value, &mut below, class_of) } else { Ok(()) };
                checked.inspect_err(|_| *inside += &format!("{part}{below}"))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::host::mode;
    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::boundary::CallError;
    use alcedo_base::handles::ObjectHandle;

    use crate::World;
    use crate::decl::PropertyDecl;
    use crate::member::PropertyRef;
    use crate::property::PropertyType;
    use crate::testing::{declare, native, world};
    use crate::value::Value;

    /// Creates a world with a door and a wall. The class of the wall does not derive from the class of the door.
    fn house() -> (World, [ObjectHandle; 2]) {
        let world = world();
        let classes = declare(&world, ["Door", "Wall"].map(|name| native(name, "/Script/Engine.Object", &[])));
        let objects = [0, 1].map(|at: usize| world.objects.allocate(&classes[at], None, ObjectHandle::NONE, 0));
        (world, objects)
    }

    fn check(world: &World, ty: &str, value: &Value, expected: Option<&str>) {
        let ty = PropertyType::parse(ty, &world.types).expect("there is such a type");
        let found = world.check_objects(&ty, value, || "the place".to_owned()).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{value:?}");
    }

    #[test]
    fn nested_objects_of_wrong_classes_are_reported_with_their_location() {
        let (world, [door, wall]) = house();
        let error = |inside: &str| {
            format!("the place{inside}: object {wall} is a /Script/Engine.Wall, not a /Script/Engine.Door")
        };
        let (is, is_not, none) = (Value::Object(door), Value::Object(wall), Value::Object(ObjectHandle::NONE));
        check(&world, "Object(/Script/Engine.Door)", &is, None);
        check(&world, "Object(/Script/Engine.Object)", &is_not, None);
        check(&world, "Object(/Script/Engine.Door)", &none, None);
        check(&world, "Object(/Script/Engine.Door)", &is_not, Some(&error("")));
        check(&world, "WeakObject(/Script/Engine.Door)", &Value::WeakObject(wall), Some(&error("")));
        let row = Value::Array(vec![is.clone(), is_not.clone()]);
        check(&world, "Array(Object(/Script/Engine.Door))", &row, Some(&error("[1]")));
        let row = Value::Optional(Some(Box::new(row)));
        check(&world, "Optional(Array(Object(/Script/Engine.Door)))", &row, Some(&error("[1]")));
        let map = Value::Map(vec![(Value::I32(1), is), (Value::I32(2), is_not.clone())]);
        check(&world, "Map(i32, Object(/Script/Engine.Door))", &map, Some(&error("[1].value")));
        let map = Value::Map(vec![(is_not, Value::I32(2))]);
        check(&world, "Map(Object(/Script/Engine.Door), i32)", &map, Some(&error("[0].key")));
        let sings = format!(
            "the place: object {wall} is a /Script/Engine.Wall, not a class that implements /Script/Engine.Sings"
        );
        check(&world, "ScriptInterface(/Script/Engine.Sings)", &Value::ScriptInterface(wall), Some(&sings));
    }

    #[test]
    fn references_are_written_at_cached_offsets_unless_the_class_is_wrong_or_a_mark_runs() {
        let (world, [door, wall]) = house();
        let property = PropertyDecl::new("of", PropertyKind::OBJECT).of_type("/Script/Engine.Door");
        let key = declare(&world, [native("Key", "/Script/Engine.Object", &[property])]).remove(0);
        let (key, none) = (world.objects.allocate(&key, None, ObjectHandle::NONE, 0), ObjectHandle::NONE);
        let of = PropertyRef::new("of");
        assert_eq!(world.set_cached(key, &of, door), Err(door), "no offset is cached");
        world.set(key, &of, door).expect("a door");
        assert_eq!([none, wall, door].map(|to| world.set_cached(key, &of, to)), [Ok(()), Err(wall), Ok(())]);
        assert!(matches!(world.set(key, &of, wall), Err(CallError::WrongClass { .. })));
        assert_eq!(world.get::<ObjectHandle>(key, &of), Ok(door));
        let _marking = world.mode.enter(mode::MARKING);
        assert_eq!(world.set_cached(key, &of, none), Err(none), "the mark has to scan the object again");
    }

    #[test]
    fn destroyed_objects_suit_every_type() {
        let (world, [_, wall]) = house();
        world.objects.release(wall);
        check(&world, "Object(/Script/Engine.Door)", &Value::Object(wall), None);
    }
}
