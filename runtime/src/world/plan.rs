//! What is done with the objects of one saved class: decided once per class, from how it was saved and how it is declared
//! now. The rules are those of the reload.

use std::rc::Rc;

use alcedo_abi::kinds::property_flags;
use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::emit::diff::{self, ClassShape, Fate as PropertyFate, PropertyShape, TypeKey};
use crate::object::class::Class;
use crate::object::construction::make_cdo;
use crate::object::fixed;
use crate::object::origin::Origin;
use crate::object::path::short;
use crate::object::property::Property;
use crate::object::types::OldNames;
use crate::object::value::Value;
use crate::reload::changes::PropertyChange;
use crate::reload::fate::{Before, Fate, fate};
use crate::reload::plan::{PropertyDefault, is_subobject, is_transient, native_ancestor};
use crate::world::error::WorldError;
use crate::world::records::{ClassRecord, PropertyRecord};
use crate::world::report::WorldLoad;

/// Where a saved value goes. `change` is its line in the report, where it has one.
pub(super) enum Target {
    /// Into this property.
    Property { to: Rc<Property>, change: Option<usize> },
    /// To sleep, by name, until the class returns.
    Sleep,
    /// Nowhere: the property is gone.
    Nowhere { change: usize },
}

/// All that is done with the objects of one saved class.
pub(super) struct ClassPlan {
    /// The class of their bodies.
    pub(super) class: Rc<Class>,
    /// What becomes of them.
    pub(super) fate: Fate,
    /// One for each saved property.
    pub(super) targets: Vec<Target>,
    /// What each property of the new class starts with, but for those that hold default subobjects.
    pub(super) defaults: Vec<(Rc<Property>, PropertyDefault)>,
    /// Lines of the report for properties that were not there when they were saved.
    pub(super) added: Vec<usize>,
    /// What default subobjects are called now, by what they were called.
    part_names: FxHashMap<String, Rc<str>>,
}

impl ClassPlan {
    /// What the default subobject is called now that was saved under this name.
    pub(super) fn part_name(&self, saved: &str) -> Rc<str> {
        self.part_names.get(saved).map_or_else(|| saved.into(), Rc::clone)
    }

    /// The default that fills up a fixed array which was saved with fewer elements.
    pub(super) fn fixed_default(&self, core: &Core, property: &Property) -> Option<Value> {
        let read = || core.world.objects.read_value(self.class.cdo.get(), &property.text).ok();
        if fixed::has_fixed(property) { read() } else { None }
    }
}

/// What default subobjects are called now, by all names that lead to them. The first that is declared has a name that leads
/// to two.
fn part_names(class: &Rc<Class>, redirects: &[(String, String)]) -> FxHashMap<String, Rc<str>> {
    let old_names = OldNames::new(redirects);
    let mut names = FxHashMap::default();
    let chain = class.chain();
    for subobject in chain.iter().flat_map(|class| &class.subobjects) {
        for name in old_names.of(&subobject.name) {
            names.entry(name).or_insert_with(|| Rc::clone(&subobject.name));
        }
    }
    names
}

/// Plans for the objects of a saved class. Its class default object is there afterwards.
///
/// # Errors
/// When there is not even its native class, or a class default object is not born.
pub(super) fn plan_class(core: &Core, record: &ClassRecord, report: &mut WorldLoad) -> Result<ClassPlan, WorldError> {
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
    let fate = fate(&before, |path| types.class_by_path(path).map(|class| native_ancestor(&class)));
    let path = match &fate {
        Fate::Asleep { seen_as } => seen_as,
        Fate::Carried | Fate::Reborn { .. } => &before.path,
    };
    let class = types.class_by_path(path).ok_or_else(no_native)?;
    make_cdo(&core.world, &core.plugins(), &class)?;
    let redirects = types.member_redirects(&class);
    let is_asleep = matches!(fate, Fate::Asleep { .. });
    let (targets, added) = targets(core, record, &class, &redirects, is_asleep, report);
    let defaults = defaults(core, &class);
    let part_names = part_names(&class, &redirects);
    Ok(ClassPlan { class, fate, targets, defaults, added, part_names })
}

fn targets(
    core: &Core,
    record: &ClassRecord,
    class: &Rc<Class>,
    redirects: &[(String, String)],
    is_asleep: bool,
    report: &mut WorldLoad,
) -> (Vec<Target>, Vec<usize>) {
    let is_saved = |property: &&Rc<Property>| !is_transient(property) && !is_subobject(property);
    let properties: Vec<_> = class.properties.iter().filter(is_saved).collect();
    let old = record
        .properties
        .iter()
        .map(|saved| shape(&saved.name, &core.world.types.in_paths_of_today(&now(saved, class))));
    let new = properties.iter().map(|property| shape(&property.text, &property.ty.to_string()));
    let old = ClassShape { properties: old.collect(), ..ClassShape::default() };
    let new = ClassShape { properties: new.collect(), ..ClassShape::default() };
    let difference = diff::difference(&old, &new, redirects);
    let short = short(&record.path);
    let mut note = |property: &str, change: String| {
        let (class, property) = (short.to_owned(), property.to_owned());
        report.properties.push(PropertyChange { class, property, change, ..PropertyChange::default() });
        report.properties.len() - 1
    };
    let mut targets: Vec<_> = record.properties.iter().map(|_| Target::Sleep).collect();
    let mut added = Vec::new();
    for (property, fate) in properties.iter().zip(&difference.properties) {
        let (from, change) = match fate {
            PropertyFate::Added => {
                if !is_asleep {
                    added.push(note(&property.text, added_words(core, class, property)));
                }
                continue;
            }
            PropertyFate::Carried { from } => (from, None),
            PropertyFate::Renamed { from } => (from, Some(format!("was called {from}"))),
            PropertyFate::Retyped { from } => {
                let saved = record.properties.iter().find(|saved| saved.name == *from);
                let was = saved.map_or("?", |saved| saved.ty.as_str());
                (from, Some(format!("{was} → {}", property.ty)))
            }
        };
        let change = change.map(|words| note(&property.text, words));
        if let Some(at) = record.properties.iter().position(|saved| saved.name == *from) {
            targets[at] = Target::Property { to: Rc::clone(property), change };
        }
    }
    if !is_asleep {
        for name in &difference.removed {
            let change = note(name, "removed".into());
            if let Some(at) = record.properties.iter().position(|saved| saved.name == *name) {
                targets[at] = Target::Nowhere { change };
            }
        }
    }
    (targets, added)
}

fn added_words(core: &Core, class: &Class, property: &Property) -> String {
    let default = core.world.objects.with_body(class.cdo.get(), |cdo| cdo.view().read(property));
    match default {
        Ok(Ok(default)) => format!("added, default {}", default.print(&core.world.names)),
        _ => "added".to_owned(),
    }
}

/// The words of a saved type. One that was saved while its class was not there had none; it is taken for what is now.
fn now(saved: &PropertyRecord, class: &Class) -> String {
    match class.find_property(&saved.name) {
        Some(property) if saved.ty.is_empty() => property.ty.to_string(),
        _ => saved.ty.clone(),
    }
}

fn shape(name: &str, ty: &str) -> PropertyShape {
    // A value says of which fields it is, so a struct that has others now needs no other way.
    PropertyShape { name: name.to_owned(), key: TypeKey { signature: ty.to_owned(), layout: 0 } }
}

fn defaults(core: &Core, class: &Rc<Class>) -> Vec<(Rc<Property>, PropertyDefault)> {
    let holds_part = |property: &Property| property.flags & property_flags::DEFAULT_SUBOBJECT != 0;
    let read = |property: &Rc<Property>| {
        let value = core.world.objects.with_body(class.cdo.get(), |cdo| cdo.view().read(property)).ok()?.ok()?;
        Some((Rc::clone(property), PropertyDefault::of(core, class, &value)))
    };
    class.properties.iter().filter(|property| !holds_part(property)).filter_map(read).collect()
}
