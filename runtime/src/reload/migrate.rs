//! Carries the values of living objects into the layout of their new classes, by name. What becomes of a property is
//! decided once per class, by `emit/diff.rs`; here it is done for every object, into new memory: the old stays as it
//! is until the commit.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::emit::diff::{self, Fate};
use crate::handles::{ClassId, ObjectHandle};
use crate::load::error::LoadError;
use crate::object::birth::add_subobject;
use crate::object::class::{Class, Subobject};
use crate::object::convert::convert;
use crate::object::objects::{Body, object_flags};
use crate::object::property::{Property, PropertyType};
use crate::object::storage::View;
use crate::object::value::Value;
use crate::reload::report::{PropertyChange, Reload};
use alcedo_abi::kinds::property_flags;

/// What a migration has staged.
pub(crate) struct Migration {
    /// The objects whose plugin halves are to be rebuilt, in creation order.
    pub objects: Vec<ObjectHandle>,
    /// Objects of every class that live on.
    pub kept: u64,
    /// Subobjects of living objects that the new classes no longer have.
    pub removed_subobjects: Vec<ObjectHandle>,
}

/// Living objects of dynamic classes, in creation order, without class default objects and their templates.
pub(crate) fn living_dynamic(core: &Core) -> Vec<ObjectHandle> {
    let objects = &core.world.objects;
    let is_dynamic = |object: &ObjectHandle| objects.class(*object).is_some_and(|class| class.has_plugin_half());
    objects.living().into_iter().filter(is_dynamic).collect()
}

/// Whether every living object still has a class, and one it can be carried to.
///
/// # Errors
/// The class that is missing, or whose native ancestor is another, and how many objects it has.
pub(crate) fn check_survivors(core: &Core) -> Result<(), LoadError> {
    let mut counts: HashMap<ClassId, (Rc<Class>, u64)> = HashMap::new();
    for object in living_dynamic(core) {
        let Some(class) = core.world.objects.class(object) else { continue };
        // A subobject whose class is gone goes with the property that held it; else the new class could not be declared.
        let is_subobject = core.world.objects.flags(object).unwrap_or_default() & object_flags::SUBOBJECT != 0;
        if !is_subobject || core.world.types.class_by_path(&class.path).is_some() {
            counts.entry(class.id).or_insert((class, 0)).1 += 1;
        }
    }
    for (old, objects) in counts.into_values() {
        let class = old.path.to_string();
        let Some(new) = core.world.types.class_by_path(&old.path) else {
            return Err(LoadError::ClassGone { class, objects });
        };
        let (from, to) = (native_ancestor(&old), native_ancestor(&new));
        if from != to {
            return Err(LoadError::NativeBaseChanged { class, objects, from, to });
        }
    }
    Ok(())
}

/// What is done with one property of the new class. `change` is its line in the report.
enum Action {
    /// The old value, or the new default where the old one was the old default.
    Carry { from: Rc<Property>, was: OldDefault, default: NewDefault, change: Option<usize> },
    /// The same, with the old value in another type; where that would lose something, the new default.
    Convert { from: Rc<Property>, was: OldDefault, default: NewDefault, change: usize },
    /// The new default.
    Default { default: NewDefault, change: usize },
    /// A subobject that is made when all objects have their new memory.
    Subobject,
}

/// What shows that an object never departed from the old default.
enum OldDefault {
    /// It has the value of the old class default object.
    Value,
    /// It refers to its own subobject of this name, as the old class default object did to its own.
    OwnSubobject(Rc<str>),
    /// Nothing: the property holds its subobject.
    None,
}

/// What an object gets that follows the new default.
enum NewDefault {
    /// The value of the new class default object.
    Value,
    /// Its own subobject of this name, where the class default object refers to its own.
    OwnSubobject(Rc<str>),
}

struct ClassPlan {
    old: Rc<Class>,
    new: Rc<Class>,
    actions: Vec<(Rc<Property>, Action)>,
    removed: Vec<usize>,
    added_subobjects: Vec<Subobject>,
    removed_subobjects: Vec<String>,
}

/// Stages new memory for every living object.
///
/// # Errors
/// When a subobject that a new class adds cannot be born.
pub(crate) fn migrate(core: &Core, living: &[ObjectHandle], report: &mut Reload) -> Result<Migration, LoadError> {
    let mut plans: HashMap<ClassId, Rc<ClassPlan>> = HashMap::new();
    let mut changes = Vec::new();
    let mut migration = Migration {
        objects: living.to_vec(),
        kept: core.world.objects.living().len() as u64,
        removed_subobjects: Vec::new(),
    };
    let mut doomed: HashSet<ObjectHandle> = HashSet::new();
    let mut growing = Vec::new();
    let mut to_own = Vec::new();
    for object in living {
        // An owner is older than its subobjects, so they are known by now.
        if doomed.contains(object) {
            continue;
        }
        let Some(old) = core.world.objects.class(*object) else { continue };
        let plan = match plans.get(&old.id) {
            Some(plan) => Rc::clone(plan),
            None => {
                let Some(new) = core.world.types.class_by_path(&old.path) else { continue };
                let plan = Rc::new(plan_class(core, &old, &new, &mut changes, report)?);
                plans.insert(old.id, Rc::clone(&plan));
                plan
            }
        };
        for name in &plan.removed_subobjects {
            let removed = core.world.objects.subobject(*object, name);
            migration.removed_subobjects.extend(removed);
            doomed.extend(removed);
        }
        let body = carry(core, *object, &plan, &mut changes, &mut to_own)?;
        core.world.objects.stage(*object, body)?;
        if !plan.added_subobjects.is_empty() {
            growing.push((*object, plan));
        }
    }
    migration.objects.retain(|object| !doomed.contains(object));
    migration.kept -= doomed.len() as u64;
    // All have their new memory before the first new subobject is born: its constructors see the new world.
    for (object, plan) in growing {
        for subobject in &plan.added_subobjects {
            add_subobject(&core.world, &core.plugins(), object, subobject)?;
        }
    }
    for OwnReference { object, property, subobject } in to_own {
        let own = core.world.objects.subobject(object, &subobject).unwrap_or(ObjectHandle::NONE);
        core.world.objects.write_value(object, &property, &Value::Object(own))?;
    }
    report.properties = changes;
    Ok(migration)
}

fn plan_class(
    core: &Core,
    old: &Rc<Class>,
    new: &Rc<Class>,
    changes: &mut Vec<PropertyChange>,
    report: &mut Reload,
) -> Result<ClassPlan, CallError> {
    let redirects = core.world.types.member_redirects(new);
    let difference = diff::difference(&shape(old), &shape(new), &redirects);
    let short = new.short_path();
    let mut note = |property: &str, change: String| {
        let (class, property) = (short.to_owned(), property.to_owned());
        changes.push(PropertyChange { class, property, change, ..PropertyChange::default() });
        changes.len() - 1
    };
    let mut actions = Vec::new();
    for (property, fate) in new.properties.iter().zip(&difference.properties) {
        let action = match fate {
            Fate::Added if is_subobject(property) => Action::Subobject,
            Fate::Added => {
                let after = default_of(core, new, property)?;
                let change = note(&property.text, format!("added, default {}", print(core, &after)));
                Action::Default { default: new_default(core, new, &after), change }
            }
            Fate::Carried { from } | Fate::Renamed { from } | Fate::Retyped { from } => {
                let Some(source) = old.find_property(from).cloned() else { continue };
                if matches!(fate, Fate::Renamed { .. }) {
                    report.structure.push(format!("{short}.{from} is now called {}", property.text));
                }
                let (before, after) = (default_of(core, old, &source)?, default_of(core, new, property)?);
                let was = match subobject_named(core, old, &before) {
                    _ if is_subobject(property) => OldDefault::None,
                    Some(name) => OldDefault::OwnSubobject(name),
                    None => OldDefault::Value,
                };
                let default = new_default(core, new, &after);
                if matches!(fate, Fate::Retyped { .. }) {
                    let change = note(&property.text, retyped(&source.ty, &property.ty));
                    Action::Convert { from: source, was, default, change }
                } else {
                    // References differ with every class default object; that is no change of the declaration.
                    let is_change = before != after && !matches!(after, Value::Object(_));
                    let words = || format!("default {} → {}", print(core, &before), print(core, &after));
                    let change = is_change.then(|| note(&property.text, words()));
                    Action::Carry { from: source, was, default, change }
                }
            }
        };
        actions.push((Rc::clone(property), action));
    }
    let is_value = |name: &&String| !difference.removed_subobjects.iter().any(|(subobject, _)| subobject == *name);
    let removed = difference.removed.iter().filter(is_value).map(|name| note(name, "removed".into())).collect();
    for base in &difference.inserted_bases {
        report
            .structure
            .push(format!("{short} has a new base {base}: its class constructor does not run on the living"));
    }
    for (name, class) in &difference.added_subobjects {
        report.structure.push(format!("{short}.{name}: every living object gets a {class}"));
    }
    for (name, class) in &difference.removed_subobjects {
        report.structure.push(format!("{short}.{name}: the {class} of every living object is destroyed"));
    }
    let is_added =
        |subobject: &Subobject| difference.added_subobjects.iter().any(|(name, _)| **name == *subobject.name);
    let added_subobjects = new.chain().iter().flat_map(|class| class.subobjects.clone()).filter(is_added).collect();
    Ok(ClassPlan {
        old: Rc::clone(old),
        new: Rc::clone(new),
        actions,
        removed,
        added_subobjects,
        removed_subobjects: difference.removed_subobjects.into_iter().map(|(name, _)| name).collect(),
    })
}

/// A reference to be set when all subobjects are there.
struct OwnReference {
    object: ObjectHandle,
    property: Rc<str>,
    subobject: Rc<str>,
}

/// The name of the default subobject of `class` that a value of its class default object refers to.
fn subobject_named(core: &Core, class: &Class, value: &Value) -> Option<Rc<str>> {
    let Value::Object(template) = value else { return None };
    let objects = &core.world.objects;
    if objects.outer(*template) != Some(class.cdo.get()) {
        return None;
    }
    objects.name(*template).map(|name| core.world.names.text(name))
}

fn new_default(core: &Core, class: &Class, default: &Value) -> NewDefault {
    subobject_named(core, class, default).map_or(NewDefault::Value, NewDefault::OwnSubobject)
}

fn retyped(from: &PropertyType, to: &PropertyType) -> String {
    let (from, to) = (from.to_string(), to.to_string());
    if from == to { format!("{to} has other fields") } else { format!("{from} → {to}") }
}

/// The object, and the three bodies its new values come from.
struct Sources<'a> {
    object: ObjectHandle,
    own: View<'a>,
    old_default: View<'a>,
    new_default: View<'a>,
}

/// The values of one object in the layout of its new class.
fn carry(
    core: &Core,
    object: ObjectHandle,
    plan: &ClassPlan,
    changes: &mut [PropertyChange],
    to_own: &mut Vec<OwnReference>,
) -> Result<Body, CallError> {
    let objects = &core.world.objects;
    let body = Body::new(&plan.new);
    objects.with_body(object, |own| {
        objects.with_body(plan.old.cdo.get(), |old| {
            objects.with_body(plan.new.cdo.get(), |new| {
                let sources = Sources { object, own: own.view(), old_default: old.view(), new_default: new.view() };
                plan.actions.iter().try_for_each(|(property, action)| {
                    let reference = carry_one(core, &sources, body.view(), property, action, changes)?;
                    to_own.extend(reference.map(|subobject| OwnReference {
                        object,
                        property: Rc::clone(&property.text),
                        subobject,
                    }));
                    Ok::<(), CallError>(())
                })
            })
        })
    })????;
    for change in &plan.removed {
        changes[*change].dropped += 1;
    }
    Ok(body)
}

/// Carries one value. Returns the name of the own subobject that the property is to refer to, where it is one.
fn carry_one(
    core: &Core,
    sources: &Sources<'_>,
    to: View<'_>,
    property: &Property,
    action: &Action,
    changes: &mut [PropertyChange],
) -> Result<Option<Rc<str>>, CallError> {
    match action {
        Action::Carry { from, was, default, change } => {
            let follows = has_default(core, sources, from, was)?;
            if let Some(change) = change {
                let counted = &mut changes[*change];
                *(if follows { &mut counted.followed } else { &mut counted.kept }) += 1;
            }
            if follows {
                return give_default(sources, to, property, default);
            }
            to.copy_from(property, sources.own, from)?;
        }
        Action::Convert { from, was, default, change } => {
            if has_default(core, sources, from, was)? {
                changes[*change].followed += 1;
                return give_default(sources, to, property, default);
            }
            let converted = convert(&sources.own.read(from)?, &property.ty, &core.world.names);
            if converted.is_none_or(|value| to.write(property, &value).is_err()) {
                changes[*change].defaulted += 1;
                return give_default(sources, to, property, default);
            }
            changes[*change].kept += 1;
        }
        Action::Default { default, change } => {
            changes[*change].followed += 1;
            return give_default(sources, to, property, default);
        }
        Action::Subobject => {}
    }
    Ok(None)
}

fn has_default(core: &Core, sources: &Sources<'_>, property: &Property, was: &OldDefault) -> Result<bool, CallError> {
    match was {
        OldDefault::None => Ok(false),
        OldDefault::Value => sources.own.equal(property, sources.old_default, property),
        OldDefault::OwnSubobject(name) => {
            let own = core.world.objects.subobject(sources.object, name);
            Ok(own.is_some_and(|own| sources.own.get(property) == Ok(own)))
        }
    }
}

fn give_default(
    sources: &Sources<'_>,
    to: View<'_>,
    property: &Property,
    default: &NewDefault,
) -> Result<Option<Rc<str>>, CallError> {
    match default {
        NewDefault::OwnSubobject(subobject) => Ok(Some(Rc::clone(subobject))),
        NewDefault::Value => to.copy_from(property, sources.new_default, property).map(|()| None),
    }
}

fn default_of(core: &Core, class: &Class, property: &Property) -> Result<Value, CallError> {
    core.world.objects.with_body(class.cdo.get(), |cdo| cdo.view().read(property))?
}

fn print(core: &Core, value: &Value) -> String {
    value.print(&core.world.names)
}

fn shape(class: &Rc<Class>) -> diff::ClassShape {
    let property = |property: &Rc<Property>| diff::PropertyShape {
        name: property.text.to_string(),
        key: diff::TypeKey { signature: property.ty.to_string(), layout: layout(&property.ty) },
    };
    let subobjects = class.properties.iter().filter(|property| is_subobject(property));
    diff::ClassShape {
        properties: class.properties.iter().map(property).collect(),
        subobjects: subobjects
            .map(|property| (property.text.to_string(), property.ty.type_path().to_owned()))
            .collect(),
        bases: class.dynamic_chain().iter().map(|class| class.path.to_string()).collect(),
        native_ancestor: native_ancestor(class),
    }
}

/// A struct may change under its path, so its layout belongs to the type.
fn layout(ty: &PropertyType) -> u64 {
    match ty {
        PropertyType::Struct(layout) => layout.fingerprint(),
        _ => 0,
    }
}

fn native_ancestor(class: &Rc<Class>) -> String {
    class.nearest_native().map(|class| class.path.to_string()).unwrap_or_default()
}

fn is_subobject(property: &Property) -> bool {
    property.flags & property_flags::DEFAULT_SUBOBJECT != 0
}
