//! Creates and resolves references, class references and field paths. Soft references, lazy references, class references and field paths
//! are stored as names or ids. Each access resolves the name or id again. Unlike handles, these values therefore survive reloads and
//! saving.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::{CallError, not_found};
use alcedo_base::handles::{Name, ObjectHandle};

use crate::World;
use crate::class::Class;
use crate::kind_list::{of_type, of_value};
use crate::names::Names;
use crate::origin::Origin;
use crate::property::{Property, PropertyType};
use crate::value::Value;
use crate::values::{Content as _, Kind as _, Links};

impl Links for World {
    fn names(&self) -> &Names {
        &self.names
    }
}

impl World {
    /// Creates a reference value for a property of type `ty`. The value refers to `object`. For the none handle, the value refers to no
    /// object.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object is destroyed. Returns [`CallError::WrongClass`] if the type does not allow the object's
    /// class. Returns [`CallError::NotFound`] if the object has no path. Returns [`CallError::Signature`] if the type is not a reference
    /// type.
    pub fn reference_to(&self, ty: &PropertyType, object: ObjectHandle) -> Result<Value, CallError> {
        if !object.is_none() {
            self.check_suits(ty, object)?;
        }
        self.refer(ty, object)
    }

    /// Returns a value of the reference type `ty` that refers to `object`. Does not check the class of `object`. Only references by path
    /// and by id require a live object.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] or [`CallError::NotFound`] if the reference needs a path or id that the object does not have. Returns
    /// [`CallError::Signature`] if the type is not a reference type. Returns the error of the random number generator if a new id cannot be
    /// generated.
    pub fn refer(&self, ty: &PropertyType, object: ObjectHandle) -> Result<Value, CallError> {
        of_type!(ty, K, _of => K::refer(object, self).map(|found| found.map(K::wrap)))
            .unwrap_or_else(|| Err(no_such("a reference to an object", ty)))
    }

    /// Returns the object that a reference currently resolves to. Returns `NONE` if the value is not a reference, or if the object does not
    /// exist or does not match the type.
    pub fn resolve_reference(&self, ty: &PropertyType, value: &Value) -> ObjectHandle {
        let object = self.referent(value);
        if self.check_suits(ty, object).is_ok() { object } else { ObjectHandle::NONE }
    }

    /// Returns the object of a reference without a check of its class. Returns `NONE` for values of other kinds. The object may have been
    /// destroyed.
    pub fn referent(&self, value: &Value) -> ObjectHandle {
        of_value!(value, K, content => K::referent(content, self)).unwrap_or_default()
    }

    /// Creates a class reference for a property of type `ty`. `path` is the path of the class. An empty path yields a reference to no
    /// class.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the class of a `SubclassOf` does not exist. Returns [`CallError::WrongClass`] if the class is not
    /// derived from the class of the type. Returns [`CallError::Signature`] if the type is not a class reference.
    pub fn class_reference(&self, ty: &PropertyType, path: &str) -> Result<Value, CallError> {
        let (base, make): (_, fn(Name) -> Value) = match ty {
            PropertyType::SubclassOf(base) => (base, Value::SubclassOf),
            PropertyType::SoftClass(base) => (base, Value::SoftClass),
            other => return Err(no_such("a reference to a class", other)),
        };
        if path.is_empty() {
            return Ok(make(Name::default()));
        }
        match self.types.class_by_path(path) {
            Some(class) if self.is_below(&class, base) => {}
            Some(class) => {
                let (found, expected) = (class.path.to_string(), format!("{base} or a class derived from it"));
                return Err(CallError::WrongClass { place: String::new(), handle: class.cdo.get(), found, expected });
            }
            None if matches!(ty, PropertyType::SoftClass(_)) => {}
            None => {
                return Err(not_found(format!(
                    "unknown class {path}: load its module, or use a SoftClass, which may name a class that is not loaded yet"
                )));
            }
        }
        Ok(make(self.names.intern(path)))
    }

    /// Returns the class that a class reference currently resolves to. Also resolves the earlier path of a renamed class. Returns `None` if
    /// the class does not exist, or does not derive from the class of the type.
    pub fn resolve_class(&self, ty: &PropertyType, value: &Value) -> Option<Rc<Class>> {
        let (base, path) = match (ty, value) {
            (PropertyType::SubclassOf(base), Value::SubclassOf(path))
            | (PropertyType::SoftClass(base), Value::SoftClass(path)) => (base, path),
            _ => return None,
        };
        let class = self.types.class_by_path(&self.names.text(*path))?;
        self.is_below(&class, base).then_some(class)
    }

    /// Returns the property that a field path currently resolves to. Also resolves the earlier path of a renamed property.
    pub fn resolve_field(&self, value: &Value) -> Option<Rc<Property>> {
        let Value::FieldPath(path) = value else { return None };
        self.types.property_by_path(&self.names.text(*path))
    }

    /// Checks if a class implements the interface with this current or former path.
    pub fn implements(&self, class: &Class, interface: &str) -> bool {
        class.implements(interface)
            || self.types.interface_by_path(interface).is_some_and(|found| class.implements(&found.path))
    }

    /// Checks if the class is the class at the path `base` or derives from that class.
    pub(super) fn is_below(&self, class: &Class, base: &str) -> bool {
        // Only one class ever has the path of a native class. A native class in the chain therefore needs no lookup.
        let is_it = |of: &Class| of.origin == Origin::Native && *of.path == *base;
        std::iter::successors(Some(class), |class| class.base.as_deref()).any(is_it)
            || self.types.class_by_path(base).is_some_and(|base| class.is_a(&base))
    }

    /// Checks that a reference of type `ty` may refer to an object.
    ///
    /// # Errors
    /// Returns [`CallError::WrongClass`] if the type does not allow the object's class. Returns [`CallError::Stale`] if the object is
    /// `NONE` or destroyed.
    fn check_suits(&self, ty: &PropertyType, object: ObjectHandle) -> Result<(), CallError> {
        let class = self.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        self.check_class_suits(ty, object, &class)
    }

    /// Checks that a reference of type `ty` may refer to objects of a class.
    ///
    /// # Errors
    /// Returns [`CallError::WrongClass`] if the type does not allow objects of the class.
    pub(super) fn check_class_suits(
        &self,
        ty: &PropertyType,
        object: ObjectHandle,
        class: &Class,
    ) -> Result<(), CallError> {
        let (path, is_interface) = (ty.type_path(), ty.kind() == PropertyKind::SCRIPT_INTERFACE);
        let suits = if is_interface {
            self.implements(class, path)
        } else {
            // Rejects types that are not references.
            self.refer(ty, ObjectHandle::NONE)?;
            self.is_below(class, path)
        };
        if suits {
            return Ok(());
        }
        let expected = if is_interface { format!("class that implements {path}") } else { path.to_owned() };
        Err(CallError::WrongClass { place: String::new(), handle: object, found: class.path.to_string(), expected })
    }
}

fn no_such(expected: &str, found: &PropertyType) -> CallError {
    CallError::Signature { name: "the value".to_owned(), found: found.to_string(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{PropertyType, Value};
    use crate::World;
    use crate::convert::convert;
    use crate::decl::{ClassDecl, PropertyDecl};
    use crate::testing::{declare, dynamic, native, world};
    use crate::values::Entry;
    use alcedo_abi::kinds::PropertyKind;
    use alcedo_base::handles::ObjectHandle;

    const NODE: &str = "/Script/Engine.Node";
    const LEAF: &str = "/Script/Game.Leaf";
    const BIRD: &str = "/Script/Game.Bird";
    const SINGS: &str = "/Script/Engine.Sings";

    /// Creates a world with a node, a leaf and a bird. The leaf's class derives from the node's class. The bird's class implements the
    /// singing interface.
    fn forest() -> (World, [ObjectHandle; 3]) {
        let world = world();
        let bird = dynamic("Bird", "/Script/Engine.Object", &[]);
        let classes = declare(
            &world,
            [
                native("Node", "/Script/Engine.Object", &[PropertyDecl::new("size", PropertyKind::F64)]),
                dynamic("Leaf", NODE, &[]),
                ClassDecl { interfaces: vec![SINGS.to_owned()], ..bird },
            ],
        );
        let objects = [NODE, LEAF, BIRD].map(|path| {
            let class = classes.iter().find(|class| &*class.path == path).unwrap();
            world.objects.allocate(class, None, ObjectHandle::NONE, 0)
        });
        (world, objects)
    }

    /// Returns the types of all kinds of references to a leaf. The last type is the interface type.
    fn references() -> Vec<PropertyType> {
        let of = |kind: &PropertyKind| {
            let path = if *kind == PropertyKind::SCRIPT_INTERFACE { SINGS } else { LEAF };
            Entry::of(*kind)?.of_path.map(|of_path| of_path(path.into()))
        };
        let world = world();
        let all = PropertyKind::ALL.iter().filter_map(of);
        let found: Vec<_> = all.filter(|ty| world.refer(ty, ObjectHandle::NONE).is_ok()).collect();
        assert_eq!(found.len(), 5, "{found:?}");
        found
    }

    #[test]
    fn references_resolve_to_their_object_if_it_suits() {
        let (world, [node, leaf, bird]) = forest();
        for ty in references() {
            let sings = matches!(ty, PropertyType::ScriptInterface(_));
            for (object, suits) in [(node, false), (leaf, !sings), (bird, sings), (ObjectHandle::NONE, true)] {
                match world.reference_to(&ty, object) {
                    Ok(value) => {
                        assert!(suits, "{ty} {object}");
                        assert_eq!(world.resolve_reference(&ty, &value), object, "{ty}");
                    }
                    Err(error) => assert!(!suits, "{ty} {object}: {error}"),
                }
            }
        }
    }

    #[test]
    fn references_to_destroyed_objects_resolve_to_none() {
        let (world, [_, leaf, bird]) = forest();
        for ty in references() {
            let object = if matches!(ty, PropertyType::ScriptInterface(_)) { bird } else { leaf };
            let value = world.reference_to(&ty, object).unwrap();
            let class = world.objects.class(object).unwrap();
            let probe = world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
            let ended = world.reference_to(&ty, probe).unwrap();
            world.objects.release(probe);
            assert_eq!(world.resolve_reference(&ty, &ended), ObjectHandle::NONE, "{ty}");
            assert_eq!(world.resolve_reference(&ty, &value), object, "{ty}");
            assert!(world.reference_to(&ty, probe).is_err(), "{ty}");
        }
    }

    #[test]
    fn a_destroyed_object_has_no_path_and_receives_no_id_in_a_shadow() {
        let (world, [_, leaf, _]) = forest();
        let types = references();
        let [_, soft, lazy, ..] = &types[..] else { panic!("{types:?}") };
        world.objects.release(leaf);
        world.objects.begin_shadow();
        for ty in [soft, lazy] {
            assert!(world.refer(ty, leaf).is_err(), "{ty}");
            assert_eq!(convert(&Value::WeakObject(leaf), ty, &world.names, &world), None, "{ty}");
        }
        drop(world.objects.commit_shadow());
    }

    #[test]
    fn soft_references_follow_paths_and_lazy_ones_objects() {
        let (world, [_, leaf, _]) = forest();
        let types = references();
        let [_, soft, lazy, ..] = &types[..] else { panic!("{types:?}") };
        let (place, object) = (world.reference_to(soft, leaf).unwrap(), world.reference_to(lazy, leaf).unwrap());
        world.objects.rename(leaf, "other", ObjectHandle::NONE).unwrap();
        assert_eq!(world.resolve_reference(soft, &place), ObjectHandle::NONE);
        assert_eq!(world.resolve_reference(lazy, &object), leaf);
    }

    #[test]
    fn class_references_accept_the_class_and_derived_classes() {
        let (world, _) = forest();
        let check = |ty: &PropertyType, path: &str, expected: &str| {
            let result = match world.class_reference(ty, path) {
                Ok(value) => world.resolve_class(ty, &value).map_or("none".to_owned(), |class| class.path.to_string()),
                Err(error) => format!("! {error}"),
            };
            assert!(result.starts_with(expected), "{ty} {path}: {result}");
        };
        for ty in [PropertyType::SubclassOf(NODE.into()), PropertyType::SoftClass(NODE.into())] {
            check(&ty, NODE, NODE);
            check(&ty, LEAF, LEAF);
            check(&ty, "", "none");
            check(&ty, BIRD, "! object");
        }
        check(&PropertyType::SubclassOf(NODE.into()), "/Script/Game.None", "! unknown class /Script/Game.None");
        check(&PropertyType::SoftClass(NODE.into()), "/Script/Game.None", "none");
        check(&PropertyType::F64, NODE, "! the value has the signature (f64)");
    }

    #[test]
    fn a_renamed_class_or_property_is_found_by_its_old_path() {
        let (world, _) = forest();
        let ty = PropertyType::SoftClass(NODE.into());
        let class = world.class_reference(&ty, "/Script/Game.Blade").unwrap();
        assert!(world.resolve_class(&ty, &class).is_none());
        world.types.redirect("/Script/Game.Blade", LEAF);
        assert_eq!(world.resolve_class(&ty, &class).map(|class| class.path.to_string()).as_deref(), Some(LEAF));
        assert!(world.field_path("/Script/Engine.Node:width").is_err());
        world.types.redirect("/Script/Engine.Node:width", "/Script/Engine.Node:size");
        let field = world.field_path("/Script/Engine.Node:width").unwrap();
        assert_eq!(world.resolve_field(&field).map(|property| property.text.to_string()).as_deref(), Some("size"));
        assert!(world.resolve_field(&world.field_path("").unwrap()).is_none());
        assert!(world.resolve_field(&Value::F64(0.0)).is_none());
    }
}
