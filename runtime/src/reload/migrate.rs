//! Migrates living objects to their new classes. Copies values by name into new bodies, and keeps the old bodies until the commit. Objects
//! keep their bodies if the layout and the defaults of their class are unchanged. Objects of removed classes become dormant until the class
//! returns. Objects whose class has a new native base are constructed again under their handles.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::bridge::rebuild::KeptFields;
use crate::faults::{self, ReloadStep};
use crate::handles::{ClassId, Name, ObjectHandle};
use crate::load::error::LoadError;
use crate::object::World;
use crate::object::body::Body;
use crate::object::class::{Class, Subobject};
use crate::object::construction::{add_subobject, reconstruct};
use crate::object::path::short;
use crate::object::value::{Value, any_object};
use crate::reload::carry::{OwnValues, asleep, carry, own_values};
use crate::reload::changes::{ClassChange, ValueCounts};
use crate::reload::class_mapping::{ClassKey, ClassMapping, ClassTarget, class_awake, has_moved, key_of};
use crate::reload::compiled::stays;
use crate::reload::converted::Later;
use crate::reload::defaults::{refer_to_own, references_of};
use crate::reload::object_plan::ObjectPlan;
use crate::reload::plan::{ClassPlan, Notes, plan_class};
use crate::reload::report::ReloadReport;
use crate::reload::sources::{Carried, Surroundings};

pub(crate) struct Migration {
    /// Objects whose plugin parts are rebuilt, in creation order.
    pub objects: Vec<ObjectHandle>,
    /// Set if some of the objects were constructed again. These objects already have their new plugin parts.
    pub have_parts: bool,
    pub kept: u64,
    pub removed_subobjects: Vec<ObjectHandle>,
    /// Set if base classes or interfaces of a class have changed. References to the objects of that class may then be invalid.
    pub have_moved: bool,
}

/// Object that needs new subobjects, or references to existing subobjects.
struct Growing {
    object: ObjectHandle,
    plan: Rc<ClassPlan>,
    was_dormant: bool,
}

/// Old and new template of a subobject.
type Templates = (ObjectHandle, ObjectHandle);

struct Walk<'a> {
    core: &'a Core,
    mapping: ClassMapping,
    kept: KeptFields,
    plans: FxHashMap<ClassKey, Rc<ClassPlan>>,
    /// Key and plan of the previous object. Saves a lookup, because adjacent objects usually share a class.
    last: Option<(ClassKey, Rc<ClassPlan>)>,
    /// Templates of subobjects, by class of the owner and name of the subobject.
    templates: FxHashMap<(ClassId, Name), Option<Templates>>,
    doomed: FxHashSet<ObjectHandle>,
    /// Former names of the subobjects that `rename_parts` has renamed.
    renamed: FxHashMap<ObjectHandle, Rc<str>>,
    growing: Vec<Growing>,
    /// Objects that are constructed again, each with its template and its own values.
    reconstructed: Vec<(ObjectHandle, ObjectHandle, OwnValues)>,
    /// Objects that become dormant. These objects receive no plugin part.
    sleeping: FxHashSet<ObjectHandle>,
    /// Objects that are dormant before or after the reload. A dormant object has the body of a base class, whose subobjects have other
    /// defaults. Subobjects of these objects therefore have no templates, and keep values that the missing class has overridden.
    without_templates: FxHashSet<ObjectHandle>,
    /// New classes that objects of several old classes receive. Missing and returning classes do not count.
    merged: FxHashSet<ClassId>,
    /// Old class of each object whose new class is in `merged`.
    former: FxHashMap<ObjectHandle, Rc<Class>>,
    later: Later,
    removed_subobjects: Vec<ObjectHandle>,
    have_moved: bool,
}

/// Stages new bodies for all living objects, except objects of unchanged classes. If an object becomes dormant, stores its saved
/// plugin-part fields in its new body. Returns the saved fields of the objects that are not dormant after the reload. Returns an error if
/// an object or a new subobject cannot be constructed.
pub(crate) fn migrate(
    core: &Core,
    mut living: Vec<ObjectHandle>,
    (mapping, kept): (ClassMapping, KeptFields),
    report: &mut ReloadReport,
) -> Result<(Migration, KeptFields), LoadError> {
    let before = core.world.objects.count_living();
    let mut known = FxHashSet::default();
    let is_awake = |target: &ClassTarget| !matches!(target.object_plan, ObjectPlan::Dormant { .. });
    let awake = mapping.targets.iter().filter(|((_, missing), target)| missing.is_none() && is_awake(target));
    let merged = awake.map(|(_, target)| target.class.id).filter(|class| !known.insert(*class)).collect();
    let mut walk = Walk {
        core,
        mapping,
        kept,
        plans: FxHashMap::default(),
        last: None,
        templates: FxHashMap::default(),
        doomed: FxHashSet::default(),
        renamed: FxHashMap::default(),
        growing: Vec::new(),
        reconstructed: Vec::new(),
        sleeping: FxHashSet::default(),
        without_templates: FxHashSet::default(),
        merged,
        former: FxHashMap::default(),
        later: Later::default(),
        removed_subobjects: Vec::new(),
        have_moved: false,
    };
    for object in &living {
        // Owners are staged before their subobjects. If the owner's class no longer declares a subobject, `doomed` therefore already
        // contains the subobject.
        if !walk.doomed.contains(object) {
            walk.stage(*object, report)?;
        }
    }
    walk.convert()?;
    walk.grow()?;
    let have_parts = !walk.reconstructed.is_empty();
    walk.reconstruct_all()?;
    for own in std::mem::take(&mut walk.later.to_own) {
        refer_to_own(core, &own)?;
    }
    report.classes = walk.class_changes();
    report.values = ValueCounts::of(&report.properties);
    report.properties.retain(|change| !change.change.is_empty());
    living.retain(|object| !walk.doomed.contains(object) && !walk.sleeping.contains(object));
    // Excludes subobjects that this reload has created in a removed subobject.
    let is_older = |part: &&ObjectHandle| core.world.objects.predates_shadow(**part);
    let migration = Migration {
        objects: living,
        have_parts,
        kept: (before - walk.removed_subobjects.iter().filter(is_older).count()) as u64,
        removed_subobjects: walk.removed_subobjects,
        have_moved: walk.have_moved,
    };
    Ok((migration, walk.kept))
}

impl Walk<'_> {
    fn stage(&mut self, object: ObjectHandle, report: &mut ReloadReport) -> Result<(), LoadError> {
        let core = self.core;
        let objects = &core.world.objects;
        let Some(key) = key_of(core, object) else { return Ok(()) };
        let Some(plan) = self.plan(object, &key, report)? else { return Ok(()) };
        for removed in plan.removed_subobjects.iter().filter_map(|name| objects.subobject(object, name)) {
            self.doom(removed);
        }
        faults::at(ReloadStep::CarryObject)?;
        let changes = &mut report.properties;
        let carried = Carried { object, templates: self.templates_in_owner(object) };
        let from = Surroundings { core, mapping: &self.mapping };
        match &plan.object_plan {
            ObjectPlan::Carried if stays(from, carried, &plan, changes)? => objects.keep_body(object, &plan.new)?,
            ObjectPlan::Carried => {
                let body = carry(from, carried, &plan, changes, &mut self.later)?;
                if key.1.is_some() {
                    self.wake(object);
                    faults::at(ReloadStep::Wake)?;
                }
                objects.stage(object, body)?;
                let was_dormant = key.1.is_some();
                if was_dormant || !plan.added_subobjects.is_empty() {
                    self.growing.push(Growing { object, plan: Rc::clone(&plan), was_dormant });
                }
            }
            ObjectPlan::Dormant { .. } => {
                let mut body = carry(from, carried, &plan, changes, &mut self.later)?;
                let fields = self.kept.named.take(object);
                let dormant = asleep(from, carried, &plan, fields, (&mut body, changes))?;
                body.dormant = Some(Box::new(dormant));
                objects.stage(object, body)?;
                self.sleeping.insert(object);
                faults::at(ReloadStep::Sleep)?;
            }
            ObjectPlan::Reconstructed { .. } => {
                let (values, removed, template) = own_values(from, carried, &plan, (changes, &mut self.later))?;
                self.wake(object);
                let mut body = Body::new(&plan.new);
                body.removed = removed;
                objects.stage(object, body)?;
                self.reconstructed.push((object, template, values));
            }
        }
        if key.1.is_some() || self.sleeping.contains(&object) {
            self.without_templates.insert(object);
        }
        if self.merged.contains(&plan.new.id) {
            self.former.insert(object, Rc::clone(&plan.old));
        }
        self.rename_parts(object, &plan);
        plan.objects.set(plan.objects.get() + 1);
        if plan.has_other_parts { self.stage_parts(object, report) } else { Ok(()) }
    }

    /// Stages the subobjects of an object whose own classes are not replaced. `living_of` omits these subobjects. Omits subobjects with a
    /// plugin part, because the part belongs to a module that the reload keeps.
    fn stage_parts(&mut self, owner: ObjectHandle, report: &mut ReloadReport) -> Result<(), LoadError> {
        let core = self.core;
        let World { objects, types, .. } = &core.world;
        let mut parts = objects.children(owner);
        while let Some(part) = parts.pop() {
            parts.extend(objects.children(part));
            let Some(class) = class_awake(core, part).filter(|class| !class.has_plugin_part()) else { continue };
            let is_replaced = types.class_by_path(&class.path).is_none_or(|found| found.id != class.id);
            if is_replaced || objects.is_staged(part) || self.doomed.contains(&part) {
                continue;
            }
            let path = Rc::clone(&class.path);
            let target = ClassTarget { object_plan: ObjectPlan::Carried, class: Rc::clone(&class), path };
            self.mapping.targets.entry((class.id, None)).or_insert(target);
            self.stage(part, report)?;
        }
        Ok(())
    }

    /// Renames subobjects to the current names of their properties. Must run after the values of the owner are carried, because the old
    /// defaults of the owner contain the former names.
    fn rename_parts(&mut self, owner: ObjectHandle, plan: &ClassPlan) {
        let objects = &self.core.world.objects;
        for (name, former) in plan.former_names.iter().filter(|(name, _)| objects.subobject(owner, name).is_none()) {
            let found = former.iter().find_map(|former| Some((objects.subobject(owner, former)?, former)));
            if let Some((part, former)) = found.filter(|(part, _)| !self.doomed.contains(part)) {
                objects.rename_part(owner, part, name);
                self.renamed.insert(part, former.as_str().into());
            }
        }
    }

    /// Returns the old and the new template of a subobject. The templates are the subobjects with this name in the class default objects of
    /// the owner's old and new class. Returns `None` if the object has no templates.
    fn templates_in_owner(&mut self, object: ObjectHandle) -> Option<Templates> {
        let objects = &self.core.world.objects;
        let owner = objects.owner(object)?;
        if objects.owner(owner).is_some() || self.without_templates.contains(&owner) || self.former.contains_key(&owner)
        {
            return self.find_templates(object);
        }
        let key = (objects.class_id(owner)?, objects.name(object)?);
        if let Some(known) = self.templates.get(&key) {
            return *known;
        }
        let found = self.find_templates(object);
        self.templates.insert(key, found);
        found
    }

    fn find_templates(&self, object: ObjectHandle) -> Option<Templates> {
        let (objects, names) = (&self.core.world.objects, &self.core.world.names);
        let (mut before, mut after, mut at) = (Vec::new(), Vec::new(), object);
        while let Some(owner) = objects.owner(at) {
            let name = names.text(objects.name(at)?);
            before.push(self.renamed.get(&at).unwrap_or(&name).clone());
            after.push(name);
            at = owner;
            if self.without_templates.contains(&at) {
                return None;
            }
        }
        // Owners are staged before their subobjects, so an owner with a changed class already has its new body.
        let new = objects.class(at)?;
        let is_awake = |plan: &ClassPlan| !matches!(plan.object_plan, ObjectPlan::Dormant { .. });
        let mut plans = self.plans.iter().filter(|(key, plan)| key.1.is_none() && is_awake(plan));
        let found = || plans.find(|(_, plan)| Rc::ptr_eq(&plan.new, &new)).map(|(_, plan)| &plan.old);
        let old = self.former.get(&at).or_else(found).unwrap_or(&new);
        let down = |from, path: &[Rc<str>]| path.iter().rev().try_fold(from, |at, name| objects.subobject(at, name));
        Some((down(old.cdo.get(), &before)?, down(new.cdo.get(), &after)?))
    }

    fn plan(
        &mut self,
        object: ObjectHandle,
        key: &ClassKey,
        report: &mut ReloadReport,
    ) -> Result<Option<Rc<ClassPlan>>, LoadError> {
        if let Some((_, plan)) = self.last.as_ref().filter(|(last, _)| last == key) {
            return Ok(Some(Rc::clone(plan)));
        }
        if let Some(plan) = self.plans.get(key) {
            self.last = Some((key.clone(), Rc::clone(plan)));
            return Ok(Some(Rc::clone(plan)));
        }
        let Some(old) = self.core.world.objects.class(object) else { return Ok(None) };
        let Some(target) = self.mapping.targets.get(key) else { return Ok(None) };
        let mut notes = Notes { changes: &mut report.properties, structure: &mut report.structure };
        let plan = plan_class(self.core, (&old, &target.class), &target.object_plan, key.1.as_deref(), &mut notes)?;
        self.have_moved |= !matches!(target.object_plan, ObjectPlan::Dormant { .. }) && has_moved(&old, &target.class);
        let plan = Rc::new(plan);
        self.plans.insert(key.clone(), Rc::clone(&plan));
        // Clears the cache, because the templates of subobjects depend on the plans of the owners' classes.
        self.templates.clear();
        faults::at(ReloadStep::PlanClass)?;
        Ok(Some(plan))
    }

    /// Restores the kept plugin-part fields of an object whose class has returned. The new plugin part receives these fields.
    fn wake(&mut self, object: ObjectHandle) {
        let fields =
            self.core.world.objects.with_body(object, |body| {
                body.dormant.as_ref().map(|dormant| dormant.fields.clone()).unwrap_or_default()
            });
        let fields = fields.unwrap_or_default();
        if !fields.is_empty() {
            self.kept.named.insert(object, fields);
        }
    }

    /// Runs the conversions of plugin authors. The functions may read any object, because all objects have their new bodies. Objects that
    /// are constructed again receive their values later.
    fn convert(&mut self) -> Result<(), LoadError> {
        let (core, objects) = (self.core, &self.core.world.objects);
        let again = self.reconstructed.iter().enumerate().map(|(at, (object, ..))| (*object, at));
        let again: FxHashMap<_, _> = again.collect();
        for pending in std::mem::take(&mut self.later.conversions) {
            let object = pending.object;
            let failed = |value: String, error: CallError| LoadError::Conversion {
                object: core.world.path_of(object).unwrap_or_else(|| object.to_string()),
                value,
                error,
            };
            pending.apply(core, failed, |name, value| match again.get(&object) {
                Some(at) => {
                    self.reconstructed[*at].2.push((Rc::clone(name), value.clone()));
                    Ok(())
                }
                None => objects.write_unasked(object, name, value),
            })?;
        }
        Ok(())
    }

    /// Creates new subobjects. The constructors may access any object, because all objects have their new bodies.
    fn grow(&mut self) -> Result<(), LoadError> {
        for Growing { object, plan, was_dormant } in std::mem::take(&mut self.growing) {
            if self.doomed.contains(&object) {
                continue;
            }
            for subobject in &plan.added_subobjects {
                if self.find_again(object, &plan.new, subobject)? {
                    continue;
                }
                let added = add_subobject(&self.core.world, &self.core.plugins(), object, subobject)?;
                faults::at(ReloadStep::AddSubobject)?;
                if plan.added_subobjects.len() > 1 {
                    self.later.to_own.extend(references_of(self.core, added));
                }
            }
            if was_dormant {
                self.part_with_others(object, &plan.new);
            }
        }
        Ok(())
    }

    /// Restores the reference from a formerly dormant object to its subobject, and returns `true`. Keeps a reference to another object. If
    /// the subobject has a different class than the declaration, marks the subobject for destruction.
    fn find_again(&mut self, object: ObjectHandle, class: &Class, subobject: &Subobject) -> Result<bool, CallError> {
        let objects = &self.core.world.objects;
        let Some(child) = objects.subobject(object, &subobject.name) else { return Ok(false) };
        if self.doomed.contains(&child) {
            return Ok(false);
        }
        // The declaration of the owner may contain an earlier name of the class.
        let types = &self.core.world.types;
        let expected = types.redirected(&class.subobject_class(subobject));
        if objects.class(child).is_some_and(|found| *types.redirected(&found.path) == *expected) {
            let name = &subobject.property.text;
            if !any_object(&objects.read_value(object, name)?, |held| objects.is_alive(held)) {
                objects.write_unasked(object, name, &Value::Object(child))?;
            }
            return Ok(true);
        }
        self.doom(child);
        Ok(false)
    }

    /// Marks subobjects for destruction if the class of the owner no longer declares them, or declares them with a different class.
    fn part_with_others(&mut self, object: ObjectHandle, class: &Rc<Class>) {
        let objects = &self.core.world.objects;
        let chain = class.chain();
        let declared = chain.iter().flat_map(|class| &class.subobjects);
        let expected: FxHashSet<_> =
            declared.filter_map(|declared| objects.subobject(object, &declared.name)).collect();
        for child in objects.children(object) {
            if !expected.contains(&child) {
                self.doom(child);
            }
        }
    }

    /// Marks a subobject for destruction, together with its own subobjects.
    fn doom(&mut self, part: ObjectHandle) {
        let mut parts = vec![part];
        while let Some(part) = parts.pop() {
            if self.doomed.insert(part) {
                self.removed_subobjects.push(part);
                parts.extend(self.core.world.objects.children(part));
            }
        }
    }

    /// Constructs objects again, owners before their subobjects.
    fn reconstruct_all(&mut self) -> Result<(), LoadError> {
        let core = self.core;
        for (object, template, values) in std::mem::take(&mut self.reconstructed) {
            if self.doomed.contains(&object) {
                continue;
            }
            reconstruct(&core.world, &core.plugins(), object, Some(template))?;
            for (property, value) in values {
                core.world.objects.write_unasked(object, &property, &value)?;
            }
            if let Some(class) = core.world.objects.class(object) {
                self.part_with_others(object, &class);
            }
            faults::at(ReloadStep::Reconstruction)?;
        }
        Ok(())
    }

    /// Returns report entries, sorted by path, for classes that were removed, have returned, were renamed, or have a new native base class.
    fn class_changes(&self) -> Vec<ClassChange> {
        let line = |(key, plan): (&ClassKey, &Rc<ClassPlan>)| {
            let (target, dormant) = (self.mapping.targets.get(key)?, &key.1);
            let change = match (&target.object_plan, dormant) {
                (ObjectPlan::Carried, None) if target.class.path != target.path => {
                    format!("is now called {}", short(&target.class.path))
                }
                (ObjectPlan::Carried, None) => return None,
                (ObjectPlan::Carried, Some(_)) => "is back: its objects are awake".to_owned(),
                (ObjectPlan::Dormant { seen_as }, None) => {
                    format!("is gone: its objects are dormant and seen as {} until it returns", short(seen_as))
                }
                (ObjectPlan::Dormant { seen_as }, Some(_)) => {
                    format!("is still gone: its objects are dormant and seen as {}", short(seen_as))
                }
                (ObjectPlan::Reconstructed { onto }, _) => {
                    format!("extends {} now: its objects were recreated", short(onto))
                }
            };
            Some(ClassChange { class: short(&target.path).to_owned(), change, objects: plan.objects.get() })
        };
        let mut changes: Vec<_> = self.plans.iter().filter_map(line).collect();
        changes.sort_unstable_by(|one, other| one.class.cmp(&other.class));
        changes
    }
}
