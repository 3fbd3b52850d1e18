//! Plans the migration of the objects of one saved class. Compares the saved declaration of the class with the current
//! declaration, by the rules of a reload.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::emit::diff::{self, ClassShape, Predecessor, PropertyShape};
use crate::object::class::{Class, Subobject};
use crate::object::construction::make_cdo;
use crate::object::fixed;
use crate::object::function::Function;
use crate::object::origin::Origin;
use crate::object::path::short;
use crate::object::property::{Property, PropertyType};
use crate::object::types::OldNames;
use crate::object::value::Value;
use crate::reload::changes::PropertyChange;
use crate::reload::class_mapping::plan_of;
use crate::reload::conversion::conversions_of;
use crate::reload::defaults::{PropertyDefault, default_of};
use crate::reload::object_plan::{Before, ObjectPlan};
use crate::reload::plan::{is_subobject, is_transient, native_ancestor};
use crate::world::error::WorldError;
use crate::world::records::{ClassRecord, PropertyRecord};
use crate::world::report::WorldLoadReport;

/// Destination of a saved value. `change` is the index of the property in the report.
pub(super) enum Target {
    /// The value is written to a property. `conversions` contains the plugin author's functions for the property. The list is empty if the
    /// saved type is the type of the property. If `is_plain` is set, a saved value that has this type is written unchanged.
    Property { to: Rc<Property>, change: Option<usize>, conversions: Vec<Rc<Function>>, is_plain: bool },
    /// The value becomes dormant: the object stores the value by name until its class is declared again.
    Sleep,
    /// The value is dropped, because its property was removed.
    Nowhere { change: usize },
}

/// Migration plan for the objects of one saved class.
pub(super) struct ClassPlan {
    /// Class of the new bodies.
    pub(super) class: Rc<Class>,
    /// Plan for the objects of the class: carried, constructed again, or dormant.
    pub(super) object_plan: ObjectPlan,
    /// Destination of each saved property.
    pub(super) targets: Vec<Target>,
    /// Initial value of each property of the new class, except properties of default subobjects.
    pub(super) defaults: Vec<(Rc<Property>, PropertyDefault)>,
    /// Report indices of the properties that were added to the class since the save.
    pub(super) added: Vec<usize>,
    /// Default subobjects that the class and its base classes declare.
    pub(super) subobjects: Vec<Subobject>,
    /// Current names of default subobjects, by saved name.
    part_names: FxHashMap<String, Rc<str>>,
}

impl ClassPlan {
    /// Returns the current name of the default subobject that was saved under the name `saved`.
    pub(super) fn part_name(&self, saved: &str) -> Rc<str> {
        self.part_names.get(saved).map_or_else(|| saved.into(), Rc::clone)
    }

    /// Returns the default from which a fixed array receives its missing elements. Returns `None` if the property has no fixed array.
    pub(super) fn fixed_default(&self, core: &Core, property: &Property) -> Option<Value> {
        let read = || core.world.objects.read_value(self.class.cdo.get(), &property.text).ok();
        if fixed::has_fixed(property) { read() } else { None }
    }
}

/// Maps each former name of a default subobject to its current name. If several subobjects had one former name, the result contains the
/// subobject with the fewest later renames.
fn part_names(subobjects: &[Subobject], redirects: &[(String, String)]) -> FxHashMap<String, Rc<str>> {
    let in_use: Vec<&str> = subobjects.iter().map(|subobject| &*subobject.name).collect();
    let current_names = OldNames::new(redirects).resolve(&in_use);
    let mut names: FxHashMap<String, Rc<str>> = FxHashMap::default();
    for current in subobjects.iter().map(|subobject| &subobject.name) {
        names.extend(current_names.of(current).iter().map(|name| ((*name).to_owned(), Rc::clone(current))));
    }
    names
}

/// Plans the migration of a saved class, and creates a missing class default object. Fails if the saved native base class is missing or is
/// no longer native, or if the class default object cannot be constructed.
pub(super) fn plan_class(
    core: &Core,
    record: &ClassRecord,
    report: &mut WorldLoadReport,
) -> Result<ClassPlan, WorldError> {
    let types = &core.world.types;
    let no_native = || WorldError::NoNative { class: record.path.clone(), native: record.native.clone() };
    let native = types.class_by_path(&record.native).ok_or_else(no_native)?;
    if native.origin != Origin::Native {
        return Err(WorldError::NotNative { class: record.path.clone(), native: record.native.clone() });
    }
    let before = Before {
        path: record.path.as_str().into(),
        bases: record.bases.iter().map(|base| base.as_str().into()).collect(),
        native: native_ancestor(&native),
    };
    let (object_plan, class) = plan_of(core, &before);
    let class = class.ok_or_else(no_native)?;
    make_cdo(&core.world, &core.plugins(), &class)?;
    let redirects = types.member_redirects(&class);
    let is_dormant = matches!(object_plan, ObjectPlan::Dormant { .. });
    let (targets, added) = targets(core, record, &class, &redirects, is_dormant, report);
    let defaults = defaults(core, &class);
    let subobjects: Vec<_> = class.lineage().flat_map(|class| class.subobjects.iter().cloned()).collect();
    let part_names = part_names(&subobjects, &redirects);
    Ok(ClassPlan { class, object_plan, targets, defaults, added, subobjects, part_names })
}

fn targets(
    core: &Core,
    record: &ClassRecord,
    class: &Rc<Class>,
    redirects: &[(String, String)],
    is_dormant: bool,
    report: &mut WorldLoadReport,
) -> (Vec<Target>, Vec<usize>) {
    let is_saved = |property: &&Rc<Property>| !is_transient(property) && !is_subobject(property);
    let properties: Vec<_> = class.properties.iter().filter(is_saved).collect();
    let old = record
        .properties
        .iter()
        .map(|saved| shape(&saved.name, &core.world.types.to_current_paths(&now(saved, class))));
    let new = properties.iter().map(|property| shape(&property.text, &property.ty.to_string()));
    let old = ClassShape { properties: old.collect(), ..ClassShape::default() };
    let new = ClassShape { properties: new.collect(), ..ClassShape::default() };
    let difference = diff::difference(&old, &new, redirects);
    let short = short(&record.path);
    let mut note =
        |property: &str, change: String| PropertyChange::add(&mut report.properties, short, property, change);
    let mut targets: Vec<_> = record.properties.iter().map(|_| Target::Sleep).collect();
    let mut added = Vec::new();
    let conversions = conversions_of(class);
    for (property, from) in properties.iter().zip(&difference.properties) {
        let Some(Predecessor { name: from, has_same_type }) = from else {
            if !is_dormant {
                added.push(note(&property.text, added_words(core, class, property)));
            }
            continue;
        };
        let saved = record.properties.iter().position(|saved| saved.name == *from);
        // A property that was saved while its class was missing has no type.
        let is_typed = saved.is_none_or(|at| !record.properties[at].ty.is_empty());
        let change = match (*has_same_type || !is_typed, **from == *property.text) {
            (true, true) => None,
            (true, false) => Some(format!("was called {from}")),
            (false, _) => {
                let was = saved.map_or("?", |at| record.properties[at].ty.as_str());
                Some(format!("{was} → {}", property.ty))
            }
        };
        let change = change.map(|words| note(&property.text, words));
        if let Some(at) = saved {
            // No function converts values of the current type.
            let may_convert = !has_same_type || !is_typed;
            let conversions = conversions.get(&property.text).filter(|_| may_convert).cloned().unwrap_or_default();
            let is_plain = change.is_none() && conversions.is_empty() && is_plain(&property.ty);
            targets[at] = Target::Property { to: Rc::clone(property), change, conversions, is_plain };
        }
    }
    if !is_dormant {
        for name in &difference.removed {
            let change = note(name, "removed".into());
            if let Some(at) = record.properties.iter().position(|saved| saved.name == *name) {
                targets[at] = Target::Nowhere { change };
            }
        }
    }
    (targets, added)
}

/// Returns `true` for a type whose values contain neither references nor names of declarations.
fn is_plain(ty: &PropertyType) -> bool {
    use PropertyType as T;
    let is_integer = matches!(ty, T::U8 | T::U16 | T::U32 | T::U64 | T::I8 | T::I16 | T::I32 | T::I64);
    is_integer || matches!(ty, T::F32 | T::F64 | T::Bool | T::Text | T::Name)
}

fn added_words(core: &Core, class: &Class, property: &Property) -> String {
    match default_of(core, class, property) {
        Ok(default) => format!("added, default {}", default.print(&core.world.names)),
        Err(_) => "added".to_owned(),
    }
}

/// Returns the type string of a saved property. For a property that was saved while its class was missing, returns the current
/// type.
fn now(saved: &PropertyRecord, class: &Class) -> String {
    match class.find_property(&saved.name) {
        Some(property) if saved.ty.is_empty() => property.ty.to_string(),
        _ => saved.ty.clone(),
    }
}

fn shape(name: &str, ty: &str) -> PropertyShape {
    // Leaves the layout zero. The layout is not needed to detect a changed struct, because a saved struct value contains its field names.
    PropertyShape { name: name.to_owned(), signature: ty.to_owned(), layout: 0 }
}

fn defaults(core: &Core, class: &Rc<Class>) -> Vec<(Rc<Property>, PropertyDefault)> {
    let read =
        |property: &Rc<Property>| Some((Rc::clone(property), PropertyDefault::in_class(core, class, property).ok()?));
    class.properties.iter().filter(|property| !is_subobject(property)).filter_map(read).collect()
}
