//! Migration plan of one class, property by property. The plan is computed once per class, from the differences between the old and the new
//! build of the class. `carry.rs` applies the plan to each object.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::rc::Rc;

use alcedo_abi::kinds::property_flags;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::boundary::CallError;
use crate::bridge::core::Core;
pub(crate) use crate::emit::conversions::is_subobject;
use crate::emit::conversions::types_of;
use crate::emit::diff::{self, Predecessor};
use crate::handles::ObjectHandle;
use crate::object::class::{Class, Subobject};
use crate::object::dormant::{Dormant, KeptValue};
use crate::object::fixed::has_fixed;
use crate::object::function::Function;
use crate::object::path;
use crate::object::property::{Property, PropertyType};
use crate::object::storage::transfer::{Rule, Transfer};
use crate::object::types::{CurrentNames, OldNames};
use crate::object::value::{Value, names_object};
use crate::reload::changes::PropertyChange;
use crate::reload::conversion::{Conversions, conversions_of, is_same_type};
use crate::reload::defaults::{PropertyDefault, default_of, has_other_parts, is_same_in_itself};
use crate::reload::object_plan::ObjectPlan;

/// Action for one property of the new class. `change` is the index of the property in the report.
pub(super) enum Action {
    /// Copies the old value. If the old value equals the old default, uses the new default instead.
    Carry { from: Rc<Property>, was: Option<PropertyDefault>, default: PropertyDefault, change: usize },
    /// Converts the old value to a new type, completely or in part. `is_same` is set if the two types differ only in renamed paths.
    Convert { from: Rc<Property>, was: Option<PropertyDefault>, default: PropertyDefault, change: usize, is_same: bool },
    /// Restores a value that was put aside under one of these names. The object was dormant, or its class lacked the property. Without such
    /// a value, uses the new default.
    Restore { names: Vec<String>, default: PropertyDefault, change: usize },
    /// Leaves a reference to a subobject unset. The reference is set when all objects have new bodies.
    Subobject,
}

/// Earlier names that a build adds to an existing property, by the name of the property.
pub(super) type AddedNames = FxHashMap<Rc<str>, Vec<String>>;

pub(super) struct ClassPlan {
    pub(super) old: Rc<Class>,
    pub(super) new: Rc<Class>,
    pub(super) object_plan: ObjectPlan,
    /// Properties of the new class, each with its action.
    pub(super) actions: Vec<(Rc<Property>, Action)>,
    /// Removed properties, each with its default and its index in the report.
    pub(super) removed: Vec<(Rc<Property>, PropertyDefault, usize)>,
    /// Properties whose values a dormant object keeps by name, each with its default and its index in the report.
    pub(super) left: Vec<(Rc<Property>, PropertyDefault, usize)>,
    /// Class name of the objects in the report. May differ from the class of the objects' bodies.
    pub(super) label: String,
    /// Index of the report entry that counts the dormant values.
    pub(super) asleep: usize,
    /// Subobjects that the new class declares and the old class lacks. If the objects were dormant, all subobjects of the new class.
    pub(super) added_subobjects: Vec<Subobject>,
    pub(super) removed_subobjects: Vec<String>,
    /// Set if the class overrides other defaults of a subobject whose own class is not replaced.
    pub(super) has_other_parts: bool,
    /// Subobjects of the new class that were renamed, each with its former names.
    pub(super) former_names: Vec<(Rc<str>, Vec<String>)>,
    /// Earlier names that only the new build lists, for properties of both builds.
    pub(super) added_names: AddedNames,
    /// Functions of plugin authors that convert values of properties.
    pub(super) conversions: Conversions,
    /// Functions that convert whole objects. The old class has a property for each argument of such a function.
    pub(super) whole: Vec<WholeConversion>,
    /// Compiled actions. `None` if an action requires more than a comparison with a default and a copy.
    pub(super) plain: Option<Plain>,
    /// Number of objects that this reload has migrated by the plan.
    pub(super) objects: Cell<u64>,
}

/// Compiled actions of a class, for objects without values that were put aside.
pub(super) struct Plain {
    pub(super) transfer: Transfer,
    /// Index in the report for each rule.
    pub(super) changes: Vec<usize>,
    /// Properties whose default is a subobject of the object. Each entry contains the index of the rule, the property, and the name of the
    /// subobject.
    pub(super) parts: Vec<(usize, Rc<Property>, Rc<str>)>,
    /// Properties whose values refer to objects. Each entry contains the index of the rule, and the old property. The classes of the
    /// referenced objects must keep their bases and interfaces.
    pub(super) references: Vec<(usize, Rc<Property>)>,
    /// Properties whose default refers to the class default object itself. Each entry contains the old and the new property.
    pub(super) to_itself: Vec<(Rc<Property>, Rc<Property>)>,
    /// New properties whose values refer to objects. The owner of a subobject may override their defaults with references to templates.
    pub(super) overridable: Vec<Rc<Property>>,
    /// Buffer with one flag per rule. A flag is true if the object's value differs from the default. The buffer is reused for each object.
    pub(super) are_own: Cell<Vec<bool>>,
    /// Set if the layout is unchanged, and each value keeps its offset.
    pub(super) is_in_place: bool,
    /// Last checked pair of an old and a new template.
    pub(super) checked: Cell<Option<((ObjectHandle, ObjectHandle), CheckedTemplates)>>,
}

/// Result of the checks of an old and a new template. In both checks, a reference of the old template to itself must be a reference of the
/// new template to itself.
#[derive(Clone, Copy)]
pub(super) struct CheckedTemplates {
    /// Both templates have equal values in all properties that follow defaults.
    pub(super) has_same_defaults: bool,
    /// The compiled actions can carry subobjects with these templates. The actions are compiled for the defaults of the class, but the
    /// owner may override defaults with references.
    pub(super) suits_actions: bool,
}

impl Plain {
    /// Compiles the actions. Returns `None` if an action requires more than a comparison with a default and a copy. `stays` returns true
    /// for a subobject that every object keeps. `is_same` returns true for a property whose defaults in both builds differ at most in the
    /// class default object to which they refer.
    fn of(
        (old, new): (&Class, &Class),
        actions: &[(Rc<Property>, Action)],
        removed: &[(Rc<Property>, PropertyDefault, usize)],
        (stays, is_same): (impl Fn(&str) -> bool, impl Fn(&Property, &Property) -> bool),
    ) -> Option<Self> {
        use PropertyDefault as Of;
        let (mut rules, mut changes, mut parts, mut references) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut to_itself, mut overridable) = (Vec::new(), Vec::new());
        for (to, action) in actions {
            let (rule, change) = match action {
                Action::Carry { from, was: None, default, change } => {
                    let is_distinct = matches!(default, Of::Value);
                    (Rule::Own { from: &**from, to: &**to, is_distinct }, change)
                }
                Action::Carry { from, was: Some(Of::Value), default: Of::Value, change } if !has_fixed(to) => {
                    if to.ty.names_objects() {
                        references.push((rules.len(), Rc::clone(from)));
                        overridable.push(Rc::clone(to));
                    }
                    (Rule::Follow { from: &**from, to: &**to }, change)
                }
                // Carries the handle of the subobject, because the old and the new default are the object's own subobject.
                Action::Carry { from, was: Some(Of::OwnSubobject(was)), default: Of::OwnSubobject(name), change }
                    if was == name && stays(name) =>
                {
                    references.push((rules.len(), Rc::clone(from)));
                    parts.push((rules.len(), Rc::clone(from), Rc::clone(name)));
                    (Rule::Own { from: &**from, to: &**to, is_distinct: false }, change)
                }
                // Carries the object's value, because an object has equal values for the old and the new default.
                Action::Carry { from, was: Some(Of::OwnParts), default: Of::OwnParts, change }
                    if !has_fixed(to) && is_same(from, to) =>
                {
                    references.push((rules.len(), Rc::clone(from)));
                    to_itself.push((Rc::clone(from), Rc::clone(to)));
                    (Rule::Own { from: &**from, to: &**to, is_distinct: false }, change)
                }
                Action::Restore { default: Of::Value, change, .. } => {
                    overridable.extend(to.ty.names_objects().then(|| Rc::clone(to)));
                    (Rule::Default { to: &**to }, change)
                }
                Action::Subobject => continue,
                _ => return None,
            };
            rules.push(rule);
            changes.push(*change);
        }
        for (from, was, change) in removed {
            if !matches!(was, Of::Value) {
                return None;
            }
            rules.push(Rule::Gone { from: &**from });
            changes.push(*change);
        }
        let transfer = Transfer::new((old.schema(), new.schema()), rules).ok()?;
        let is_in_place = transfer.is_in_place();
        let (are_own, checked) = Default::default();
        Some(Self { transfer, changes, parts, references, to_itself, overridable, are_own, is_in_place, checked })
    }
}

/// Function that converts whole objects of the old class.
pub(super) struct WholeConversion {
    pub(super) function: Rc<Function>,
    /// Properties of the old class that are arguments of the function, with their defaults.
    pub(super) sources: Vec<(Rc<Property>, PropertyDefault)>,
    /// Properties of the new class that the function sets.
    pub(super) targets: Vec<Rc<Property>>,
}

impl ClassPlan {
    /// Returns the names of the dormant values that the plan restores. If a property has dormant values under several names, selects the
    /// first name. A renamed property restores the dormant value under its new name, if `can_hold` returns `true` for this value.
    pub(super) fn restored(
        &self,
        dormant: &Dormant,
        can_hold: impl Fn(&Property, &KeptValue) -> bool,
    ) -> FxHashSet<&str> {
        let kept: FxHashSet<&str> = dormant.values.iter().map(|(name, _)| &**name).collect();
        let mut restored = FxHashSet::default();
        for (property, action) in &self.actions {
            match action {
                Action::Restore { names, .. } => {
                    restored.extend(names.iter().map(|name| &**name).find(|name| kept.contains(name)));
                }
                Action::Carry { from, .. } | Action::Convert { from, .. } if is_renamed(from, property) => {
                    let can_hold = |name: &&str| dormant.value(name).is_some_and(|value| can_hold(property, value));
                    restored.extend(Some(&*property.text).filter(can_hold));
                }
                _ => {}
            }
        }
        restored
    }
}

/// Checks if a property has a different name in the old build. Returns `false` for subobjects, because the migration renames the subobjects
/// themselves.
pub(super) fn is_renamed(from: &Property, to: &Property) -> bool {
    from.text != to.text && !is_subobject(from) && !is_subobject(to)
}

pub(super) struct Notes<'a> {
    pub(super) changes: &'a mut Vec<PropertyChange>,
    pub(super) structure: &'a mut Vec<String>,
}

/// Plans the migration from bodies of `old` to bodies of `new`. If the objects are dormant, `waits_for` is the path of their missing class.
/// A report entry without a description only counts values.
pub(super) fn plan_class(
    core: &Core,
    (old, new): (&Rc<Class>, &Rc<Class>),
    object_plan: &ObjectPlan,
    waits_for: Option<&str>,
    notes: &mut Notes<'_>,
) -> Result<ClassPlan, CallError> {
    let was_dormant = waits_for.is_some();
    let redirects = core.world.types.member_redirects(new);
    let in_use: Vec<&str> = new.properties.iter().map(|property| &*property.text).collect();
    let current_names = OldNames::new(&redirects).resolve(&in_use);
    let difference = diff::difference(&shape(core, old), &shape(core, new), &redirects);
    let added_names = added_names(core, old, (new, &difference), &current_names);
    let is_dormant = matches!(object_plan, ObjectPlan::Dormant { .. });
    // Dormant objects receive the body of a base class. The report omits the differences between the missing class and the base class.
    let should_report = !is_dormant && !was_dormant;
    let short = path::short(waits_for.unwrap_or(if is_dormant { &old.path } else { &new.path }));
    let note = |property: &str, change: String, changes: &mut Vec<PropertyChange>| {
        PropertyChange::add(changes, short, property, change)
    };
    let conversions = conversions_of(new);
    let mut actions = Vec::new();
    for (property, from) in new.properties.iter().zip(&difference.properties) {
        let action = match from {
            None if is_subobject(property) => Action::Subobject,
            None => {
                let after = default_of(core, new, property)?;
                let default = PropertyDefault::of(core, new, &after);
                let words = || match was_dormant {
                    true => "kept while its objects were dormant".to_owned(),
                    false => format!("added, default {}", print(core, &after)),
                };
                let change = note(&property.text, words(), notes.changes);
                let names = current_names.of(&property.text).iter().map(|name| (*name).to_owned()).collect();
                Action::Restore { names, default, change }
            }
            Some(Predecessor { name: from, has_same_type }) => {
                let Some(source) = old.find_property(from).cloned() else { continue };
                if should_report && *has_same_type && **from != *property.text {
                    notes.structure.push(format!("{short}.{from} is now called {}", property.text));
                }
                let (before, after) = (default_of(core, old, &source)?, default_of(core, new, property)?);
                let was = (!is_subobject(property)).then(|| PropertyDefault::of(core, old, &before));
                let default = PropertyDefault::of(core, new, &after);
                if *has_same_type {
                    // A class default object refers to its own subobjects. Defaults that refer to subobjects of the old and of the new
                    // class default object are therefore equal if the subobjects have the same name.
                    let is_change = should_report && before != after && !refers(&after);
                    let words = || format!("default {} → {}", print(core, &before), print(core, &after));
                    let words = if is_change { words() } else { String::new() };
                    let change = note(&property.text, words, notes.changes);
                    Action::Carry { from: source, was, default, change }
                } else {
                    let (before, after) = (source.ty.to_string(), property.ty.to_string());
                    let is_same = before != after && is_same_type(&core.world, &before, &property.ty);
                    let words = if is_same { String::new() } else { retyped(&source.ty, &property.ty) };
                    let change = note(&property.text, words, notes.changes);
                    Action::Convert { from: source, was, default, change, is_same }
                }
            }
        };
        actions.push((Rc::clone(property), action));
    }
    let mut left = Vec::new();
    let mut removed = Vec::new();
    for name in &difference.removed {
        let is_part = difference.removed_subobjects.iter().any(|(subobject, _)| subobject == name);
        let Some(property) = old.find_property(name).filter(|_| !is_part) else { continue };
        let was = PropertyDefault::in_class(core, old, property)?;
        let (list, words) = if is_dormant { (&mut left, "") } else { (&mut removed, "removed") };
        list.push((Rc::clone(property), was, note(name, words.to_owned(), notes.changes)));
    }
    if should_report {
        notes.structure.extend(rename_hint(short, (old, new), &difference));
        report_structure(short, &difference, matches!(object_plan, ObjectPlan::Reconstructed { .. }), notes.structure);
    }
    let added: HashSet<&str> = difference.added_subobjects.iter().map(|(name, _)| &**name).collect();
    // A dormant object lacks the subobjects that a base class has gained during the dormancy.
    let may_lack = |subobject: &Subobject| was_dormant && is_subobject(&subobject.property);
    let is_added = |subobject: &Subobject| added.contains(&*subobject.name) || may_lack(subobject);
    let added_subobjects = new.chain().iter().flat_map(|class| class.subobjects.clone()).filter(is_added).collect();
    let former_names = |subobject: &Subobject| {
        let former: Vec<_> = current_names.of(&subobject.name).iter().skip(1).map(|name| (*name).to_owned()).collect();
        (!former.is_empty()).then(|| (Rc::clone(&subobject.name), former))
    };
    // A dormant object keeps its subobjects under their names for the return of its class.
    let subobjects = new.lineage().flat_map(|class| &class.subobjects).filter(|_| !is_dormant);
    let former_names = subobjects.filter_map(former_names).collect();
    let whole = if should_report { whole_conversions(core, (old, new), &conversions)? } else { Vec::new() };
    for from in whole.iter().filter_map(|conversion| types_of(&conversion.function)).map(|(from, _)| from) {
        notes.structure.push(format!("{short}: objects are converted by their module, from {from}"));
    }
    let changed = difference.added_subobjects.iter().chain(&difference.removed_subobjects);
    let stays = |part: &str| !changed.clone().any(|(name, _)| *name == part);
    let is_plain = should_report && *object_plan == ObjectPlan::Carried && whole.is_empty();
    let is_same = |from: &Property, to: &Property| match (default_of(core, old, from), default_of(core, new, to)) {
        (Ok(before), Ok(after)) => is_same_in_itself((&before, old.cdo.get()), (&after, new.cdo.get())),
        _ => false,
    };
    let plain = if is_plain { Plain::of((old, new), &actions, &removed, (stays, is_same)) } else { None };
    // A dormant object keeps its subobjects for the return of its class. The base class of its body may declare other subobjects.
    let removed_subobjects = difference.removed_subobjects.into_iter().filter(|_| !is_dormant && !was_dormant);
    Ok(ClassPlan {
        old: Rc::clone(old),
        new: Rc::clone(new),
        object_plan: object_plan.clone(),
        actions,
        removed,
        left,
        label: short.to_owned(),
        asleep: note("", String::new(), notes.changes),
        added_subobjects,
        removed_subobjects: removed_subobjects.map(|(name, _)| name).collect(),
        has_other_parts: should_report && has_other_parts(core, old, new),
        former_names,
        added_names,
        conversions,
        whole,
        plain,
        objects: Cell::new(0),
    })
}

/// Returns the earlier names that the redirects of the replaced build lack, for properties that both builds have under the same name.
fn added_names(
    core: &Core,
    old: &Rc<Class>,
    (new, difference): (&Class, &diff::Difference),
    names: &CurrentNames<'_>,
) -> AddedNames {
    let mut added = AddedNames::default();
    for (property, from) in new.properties.iter().zip(&difference.properties) {
        // The value of a property that this build removes is put aside, under its own name.
        let earlier = names.of(&property.text).iter().skip(1).filter(|name| old.find_property(name).is_none());
        let earlier: Vec<_> = earlier.map(|name| (*name).to_owned()).collect();
        if !earlier.is_empty() && from.as_ref().is_some_and(|from| *from.name == *property.text) {
            added.insert(Rc::clone(&property.text), earlier);
        }
    }
    if added.is_empty() {
        return added;
    }
    let redirects = {
        let _lowered = core.world.types.lower_shadow();
        core.world.types.member_redirects(old)
    };
    let before = OldNames::new(&redirects);
    added.retain(|property, earlier| {
        let known = before.of(property);
        earlier.retain(|name| !known.contains(name));
        !earlier.is_empty()
    });
    added
}

/// Returns the conversions of whole objects that apply to the old class. A conversion applies if the old class has all properties that are
/// arguments of the function. At most one returned conversion sets each property of the new class.
fn whole_conversions(
    core: &Core,
    (old, new): (&Rc<Class>, &Rc<Class>),
    conversions: &Conversions,
) -> Result<Vec<WholeConversion>, CallError> {
    let mut found = Vec::new();
    for function in conversions.get("").into_iter().flatten() {
        let Some((PropertyType::Struct(from), PropertyType::Struct(to))) = types_of(function) else { continue };
        let source = |field: &Property| {
            let source = old.find_property(&field.text).filter(|source| !is_subobject(source))?;
            is_same_type(&core.world, &source.ty.to_string(), &field.ty).then_some(source)
        };
        let Some(sources) = from.fields().iter().map(source).collect::<Option<Vec<_>>>() else { continue };
        // A derived class may itself still declare the earlier properties. Objects of the derived class then have no values to convert.
        let is_current = |field: &Property| {
            new.find_property(&field.text).is_some_and(|found| found.ty.to_string() == field.ty.to_string())
        };
        if from.fields().iter().all(is_current) {
            continue;
        }
        let with_default = |source: &Rc<Property>| {
            Ok::<_, CallError>((Rc::clone(source), PropertyDefault::in_class(core, old, source)?))
        };
        found.push(WholeConversion {
            function: Rc::clone(function),
            sources: sources.into_iter().map(with_default).collect::<Result<_, CallError>>()?,
            targets: to.fields().iter().filter_map(|field| new.find_property(&field.text).cloned()).collect(),
        });
    }
    // Prefers the conversion of the most properties, because its argument is closest to the declaration in the replaced build.
    found.sort_by_key(|whole| Reverse(whole.sources.len()));
    let mut known = FxHashSet::default();
    found.retain(|whole| {
        let is_first = !whole.targets.iter().any(|target| known.contains(&target.text));
        if is_first {
            known.extend(whole.targets.iter().map(|target| Rc::clone(&target.text)));
        }
        is_first
    });
    Ok(found)
}

/// Returns a hint about a possible rename if exactly one property was removed, and exactly one property with an equal type was added.
fn rename_hint(short: &str, (old, new): (&Class, &Class), difference: &diff::Difference) -> Option<String> {
    let [from] = &difference.removed[..] else { return None };
    let mut added = new.properties.iter().zip(&difference.properties).filter(|(_, from)| from.is_none());
    let (Some((to, _)), None) = (added.next(), added.next()) else { return None };
    let from = old.find_property(from)?;
    let is_same = from.ty.to_string() == to.ty.to_string() && !is_subobject(from) && !is_subobject(to);
    let (from, to) = (&from.text, &to.text);
    is_same.then(|| format!("{short}.{from} is removed and {to} of its type is added; if that is a new name, write `was = \"{from}\"` on {to}"))
}

fn report_structure(short: &str, difference: &diff::Difference, is_reconstructed: bool, structure: &mut Vec<String>) {
    if !is_reconstructed {
        for base in &difference.inserted_bases {
            let line = format!("{short} has a new base {base}: its class constructor does not run for living objects");
            structure.push(line);
        }
    }
    for interface in &difference.lost_interfaces {
        structure.push(format!(
            "{short} no longer implements {interface}: references by it no longer resolve to its objects"
        ));
    }
    for (name, class) in &difference.added_subobjects {
        structure.push(format!("{short}.{name}: every living object gets a {class}"));
    }
    for (name, class) in &difference.removed_subobjects {
        structure.push(format!("{short}.{name}: the {class} of every living object is destroyed"));
    }
}

fn retyped(from: &PropertyType, to: &PropertyType) -> String {
    // The layout of a type without structs differs only in the entries of an enum.
    let parts = if to.any_struct(&|_| true) { "fields" } else { "entries" };
    let (from, to) = (from.to_string(), to.to_string());
    if from == to { format!("{to} has other {parts}") } else { format!("{from} → {to}") }
}

fn refers(value: &Value) -> bool {
    matches!(value, Value::Object(_)) || names_object(value)
}

fn print(core: &Core, value: &Value) -> String {
    value.print(&core.world.names)
}

fn shape(core: &Core, class: &Rc<Class>) -> diff::ClassShape {
    let property = |property: &Rc<Property>| diff::PropertyShape {
        name: property.text.to_string(),
        signature: property.ty.to_string(),
        layout: property.ty.layout(),
    };
    let today = |path: &str| core.world.types.redirected(path).to_string();
    let subobject = |of: &Subobject| (of.name.to_string(), today(&class.subobject_class(of)));
    let declared = class.lineage().flat_map(|class| &class.subobjects);
    let subobjects = declared.filter(|subobject| is_subobject(&subobject.property));
    let interfaces = class.lineage().flat_map(|class| &class.interfaces);
    diff::ClassShape {
        properties: class.properties.iter().map(property).collect(),
        subobjects: subobjects.map(subobject).collect(),
        bases: class.module_chain().iter().map(|class| today(&class.path)).collect(),
        interfaces: interfaces.map(|path| today(path)).collect(),
    }
}

pub(crate) fn native_ancestor(class: &Rc<Class>) -> Rc<str> {
    class.nearest_native().map_or_else(|| "".into(), |class| Rc::clone(&class.path))
}

/// Checks if a property is transient. The value of a transient property is not saved to a file, and is lost when the object is constructed
/// again.
pub(crate) fn is_transient(property: &Property) -> bool {
    property.flags & property_flags::TRANSIENT != 0
}
