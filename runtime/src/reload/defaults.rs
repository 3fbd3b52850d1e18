//! Defaults of properties in one build of a class. An object that follows a default refers to itself and to its own subobjects, where the
//! class default object refers to itself and to its subobjects.

use std::rc::Rc;

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::construction::{part_pairs, template_pairs};
use crate::object::property::Property;
use crate::object::storage::View;
use crate::object::value::{Value, any_object, with_objects};

/// Default of a property in one build of a class. An object whose value equals the old default follows the default. After a reload, the
/// object has the new default.
#[derive(Clone)]
pub(crate) enum PropertyDefault {
    Value,
    /// Reference to the object's own subobject with this name. In the class default object, the property refers to the subobject of the
    /// class default object.
    OwnSubobject(Rc<str>),
    /// Value of the class default object. References to the class default object and its subobjects are replaced by references to the
    /// object and its own subobjects.
    OwnParts,
}

impl PropertyDefault {
    /// Returns the default for a value of the class default object.
    pub(crate) fn of(core: &Core, class: &Class, value: &Value) -> Self {
        match subobject_named(core, class, value) {
            Some(name) => Self::OwnSubobject(name),
            None if has_parts(core, class, value) => Self::OwnParts,
            None => Self::Value,
        }
    }

    /// Returns the default of a property in a class.
    pub(crate) fn in_class(core: &Core, class: &Class, property: &Property) -> Result<Self, CallError> {
        Ok(Self::of(core, class, &default_of(core, class, property)?))
    }

    /// Checks if an object has the default of a property. Compares the object's body with the body of the class default object. Returns an
    /// error if a body lacks the property.
    pub(crate) fn is_had(
        &self,
        core: &Core,
        property: &Property,
        (object, own): (ObjectHandle, View<'_>),
        (cdo, default): (ObjectHandle, View<'_>),
    ) -> Result<bool, CallError> {
        match self {
            Self::Value => own.equal(property, default, property),
            Self::OwnSubobject(name) => {
                let part = core.world.objects.subobject(object, name);
                Ok(part.is_some_and(|part| own.get(property) == Ok(part)))
            }
            Self::OwnParts => Ok(own.read(property)? == with_own_parts(core, default.read(property)?, cdo, object)),
        }
    }

    /// Copies the default from the body of the class default object to an object that follows the default. If the property must refer to
    /// the object's own subobjects, returns the default. The caller passes this default to [`refer_to_own`] when all objects have new
    /// bodies. Returns an error if a body lacks the property.
    pub(crate) fn give(&self, property: &Property, to: View<'_>, default: View<'_>) -> Result<Option<Self>, CallError> {
        if !matches!(self, Self::OwnSubobject(_)) {
            to.copy_from(property, default, property)?;
        }
        Ok((!matches!(self, Self::Value)).then(|| self.clone()))
    }
}

/// Reference of an object to itself or to its own subobject. The reference is set when all subobjects exist.
pub(crate) struct OwnReference {
    pub object: ObjectHandle,
    pub property: Rc<str>,
    /// Default of the property. Determines the referenced subobjects.
    pub to: PropertyDefault,
}

/// Sets the references of a property to the object and its own subobjects. All subobjects must exist. If the object is a subobject, also
/// sets references to its owners and to their subobjects.
pub(crate) fn refer_to_own(core: &Core, own: &OwnReference) -> Result<(), CallError> {
    let (objects, object) = (&core.world.objects, own.object);
    match &own.to {
        PropertyDefault::Value => Ok(()),
        PropertyDefault::OwnSubobject(name) => {
            let part = objects.subobject(object, name).unwrap_or(ObjectHandle::NONE);
            objects.write_unasked(object, &own.property, &Value::Object(part))
        }
        PropertyDefault::OwnParts => {
            let Some(class) = objects.class(object) else { return Ok(()) };
            let Some(property) = class.find_property(&own.property) else { return Ok(()) };
            let mut pairs = part_pairs(objects, class.cdo.get(), object);
            if objects.owner(object).is_some() {
                pairs.extend(template_pairs(&core.world, object));
            }
            objects.with_body_to_write(object, |body| body.view().replace_objects(property, &pairs))?
        }
    }
}

/// Returns the references to templates in a new subobject and in its own subobjects. These references name subobjects that are created
/// later.
pub(crate) fn references_of(core: &Core, part: ObjectHandle) -> Vec<OwnReference> {
    let objects = &core.world.objects;
    let (mut parts, mut found) = (vec![part], Vec::new());
    while let Some(object) = parts.pop() {
        parts.extend(objects.parts(object).into_iter().map(|(_name, part)| part));
        let Some(class) = objects.class(object) else { continue };
        let names_template = |property: &Property| {
            let value = objects.with_body(object, |body| body.view().read(property));
            value.iter().flatten().any(|value| any_object(value, |named| objects.is_template(named)))
        };
        let naming = class.properties.iter().filter(|property| property.ty.names_objects());
        for property in naming.filter(|property| names_template(property)) {
            found.push(OwnReference { object, property: Rc::clone(&property.text), to: PropertyDefault::OwnParts });
        }
    }
    found
}

/// Adapts a value of a class default object to an object. Replaces references to the class default object and its subobjects by references
/// to the object and its own subobjects.
pub(crate) fn with_own_parts(core: &Core, value: Value, cdo: ObjectHandle, object: ObjectHandle) -> Value {
    with_pairs(&value, &part_pairs(&core.world.objects, cdo, object))
}

/// Replaces references to the first object of each pair by references to the second object.
fn with_pairs(value: &Value, pairs: &[(ObjectHandle, ObjectHandle)]) -> Value {
    with_objects(value, &mut |named| pairs.iter().find(|(part, _)| *part == named).map_or(named, |(_, own)| *own))
}

/// Checks if two builds of a class override defaults differently in a subobject whose own class is not replaced. References to the class
/// default object and its subobjects are equal if they name the same subobject.
pub(super) fn has_other_parts(core: &Core, old: &Class, new: &Class) -> bool {
    let objects = &core.world.objects;
    let pairs = part_pairs(objects, old.cdo.get(), new.cdo.get());
    pairs.iter().skip(1).any(|(part, now)| {
        let class = objects.class(*part).filter(|class| objects.class_id(*now) == Some(class.id));
        class.iter().flat_map(|class| class.properties.iter()).any(|property| {
            let [value, now] = [*part, *now].map(|part| objects.read_value(part, &property.text));
            value.map(|value| with_pairs(&value, &pairs)) != now
        })
    })
}

/// Returns the name of the subobject to which `value` refers. `value` is a property value in the class default object of `class`.
fn subobject_named(core: &Core, class: &Class, value: &Value) -> Option<Rc<str>> {
    let Value::Object(template) = value else { return None };
    let objects = &core.world.objects;
    if template.is_none() || objects.outer(*template) != Some(class.cdo.get()) {
        return None;
    }
    objects.name(*template).map(|name| core.world.names.text(name))
}

/// Checks if a value of a class default object refers to the class default object or to one of its direct or indirect subobjects.
fn has_parts(core: &Core, class: &Class, value: &Value) -> bool {
    let (objects, cdo) = (&core.world.objects, class.cdo.get());
    let around = |object: ObjectHandle| std::iter::successors(Some(object), |part| objects.owner(*part));
    any_object(value, |object| !object.is_none() && around(object).any(|around| around == cdo))
}

/// Checks if the values of two templates differ at most in references to these templates themselves.
pub(super) fn is_same_in_itself((before, old): (&Value, ObjectHandle), (after, new): (&Value, ObjectHandle)) -> bool {
    with_objects(before, &mut |object| if object == old { new } else { object }) == *after
}

pub(crate) fn default_of(core: &Core, class: &Class, property: &Property) -> Result<Value, CallError> {
    core.world.objects.with_body(class.cdo.get(), |cdo| cdo.view().read(property))?
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::{PropertyKind, property_flags};

    use super::{OwnReference, PropertyDefault, refer_to_own};
    use crate::bridge::core::Core;
    use crate::handles::ObjectHandle;
    use crate::object::construction::{ConstructionArgs, construct, make_cdo};
    use crate::object::decl::{Batch, ClassDecl, PropertyDecl};
    use crate::object::origin::Origin;
    use crate::object::value::Value;

    #[test]
    fn a_default_may_refer_to_an_indirect_subobject() {
        let core = Core::new().expect("a finalizer thread");
        let (world, plugins) = (&core.world, core.plugins());
        world.types.declare_package("Game");
        let refers = |name: &str, class: &str| PropertyDecl::new(name, PropertyKind::OBJECT).of_type(class);
        let part = |name: &str, class: &str| refers(name, class).with_flags(property_flags::DEFAULT_SUBOBJECT);
        let class =
            |name: &str, properties| ClassDecl { properties, ..ClassDecl::new("Game", name, "", Origin::Native) };
        let gear = class("Gear", vec![part("pin", "/Script/Game.Pin")]);
        let cube = class("Cube", vec![part("gear", "/Script/Game.Gear"), refers("friend", "/Script/Game.Pin")]);
        let batch = Batch { classes: vec![class("Pin", Vec::new()), gear, cube], ..Batch::default() };
        world.types.declare(&world.names, &batch).expect("right declarations");
        let cube = world.types.class_by_path("/Script/Game.Cube").expect("it is declared");
        let cdo = make_cdo(world, &plugins, &cube).expect("it is constructed");
        let object = construct(world, &plugins, &cube, ConstructionArgs::default()).expect("it is constructed");
        let pin_of = |object: ObjectHandle| {
            let gear = world.objects.subobject(object, "gear").expect("it has one");
            Value::Object(world.objects.subobject(gear, "pin").expect("it has one"))
        };
        for object in [cdo, object] {
            world.objects.write_unasked(object, "friend", &pin_of(cdo)).expect("it is alive");
        }
        let property = cube.find_property("friend").expect("it is declared");
        let to = PropertyDefault::in_class(&core, &cube, property).expect("it is read");
        refer_to_own(&core, &OwnReference { object, property: "friend".into(), to }).expect("it is alive");
        assert_eq!(world.objects.read_value(object, "friend").expect("it is read"), pin_of(object));
    }
}
