//! Creates the objects of a world file next to the existing objects, with their values, subobjects and plugin parts. If a step fails, the
//! surrounding transaction undoes all steps.

use std::collections::HashSet;
use std::rc::Rc;

use alcedo_abi::value::LazyRaw;

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::bridge::rebuild::{KeptFields, Rebuilt, rebuild};
use crate::conjugate::file_fields::{FileFields, KeptView};
use crate::conjugate::named_fields::NamedFields;
use crate::emit::conversions::types_of;
use crate::faults::{self, ReloadStep};
use crate::handles::ObjectHandle;
use crate::object::body::Body;
use crate::object::construction::{add_subobject, destroy, reconstruct};
use crate::object::convert::convert_in_part;
use crate::object::dormant::{Aside, Dormant, KeptValue};
use crate::object::function::Function;
use crate::object::objects::object_flags;
use crate::object::path::short;
use crate::object::property::Property;
use crate::object::value::Value;
use crate::object::values::fits;
use crate::reload::changes::{CUT, PropertyChange};
use crate::reload::conversion::{PendingConversion, select};
use crate::reload::defaults::{OwnReference, refer_to_own, references_of};
use crate::reload::object_plan::ObjectPlan;
use crate::world::error::WorldError;
use crate::world::file_value::FileReference;
use crate::world::plan::{ClassPlan, Target};
use crate::world::records::{FlatFile, FlatKept, FlatRecord};
use crate::world::references::{References, Remaining};
use crate::world::report::WorldLoadReport;

/// State of a load in progress.
pub(super) struct Bringing<'a> {
    core: &'a Rc<Core>,
    file: &'a FlatFile<'a>,
    plans: &'a [ClassPlan],
    report: &'a mut WorldLoadReport,
    /// Created object of each record.
    objects: Vec<ObjectHandle>,
    /// Created objects that were in the root set when the world was saved.
    roots: Vec<ObjectHandle>,
    /// Subobjects that the load destroys, because the class of their owner no longer declares them.
    doomed: HashSet<ObjectHandle>,
    /// References from default values of an object to its own subobjects. Resolved when all subobjects exist.
    to_own: Vec<OwnReference>,
    /// Pending conversions of saved values. The conversions run when all objects have their values.
    conversions: Vec<PendingConversion>,
    /// Buffer for the values of one object.
    own: Fitting,
    /// Buffer for one object, with one flag per saved property. The flag is true if the record of the object has no value for the property.
    is_default: Vec<bool>,
}

/// Saved values that are written to properties.
type Fitting = Vec<(Rc<Property>, Value)>;

/// Saved values that become dormant, by property name.
type Asleep = Vec<(Rc<str>, KeptValue)>;

/// Saved values of which no part or only a part fits the current property, and own values of dormant objects that equal a default.
type SavedAside = Vec<(Rc<str>, Aside)>;

impl<'a> Bringing<'a> {
    pub(super) fn new(
        core: &'a Rc<Core>,
        file: &'a FlatFile<'a>,
        plans: &'a [ClassPlan],
        report: &'a mut WorldLoadReport,
    ) -> Self {
        let (objects, roots, doomed, to_own, conversions, own, is_default) = Default::default();
        Self { core, file, plans, report, objects, roots, doomed, to_own, conversions, own, is_default }
    }

    /// Creates memory, values and subobjects of all objects. Plugin code runs only if a class has a new subobject, has a changed native
    /// base class, or converts a value.
    pub(super) fn make(&mut self) -> Result<(), WorldError> {
        let has_parts = self.allocate()?;
        self.each(Self::fill)?;
        if self.has_reconstructed() {
            self.each(Self::reconstruct_object)?;
        }
        self.convert()?;
        if has_parts || self.plans.iter().any(|plan| !plan.subobjects.is_empty()) {
            self.each(Self::gather_parts)?;
        }
        for own in std::mem::take(&mut self.to_own) {
            let written = refer_to_own(self.core, &own);
            written.map_err(|error| WorldError::Object { object: own.object.to_string(), error })?;
        }
        for object in std::mem::take(&mut self.doomed) {
            destroy(&self.core.world, &self.core.plugins(), object);
        }
        Ok(())
    }

    /// Builds the plugin parts in the original construction order of the objects, and restores the kept fields of these parts.
    /// Returns the fields of parts that are put off.
    pub(super) fn build_plugin_parts(&mut self) -> Result<NamedFields, WorldError> {
        let file = self.file;
        let bytes = file.kept.iter().map(|field| field.data.len()).sum();
        let of_file = FileFields::new(file.fields.clone(), file.kept.len(), bytes);
        let mut kept = KeptFields { of_file, ..KeptFields::default() };
        let mut objects = Vec::with_capacity(self.objects.len());
        for (object, record, plan) in self.all() {
            if !matches!(plan.object_plan, ObjectPlan::Dormant { .. }) && plan.class.has_plugin_part() {
                objects.push(object);
                let fields = record.kept.of(&file.kept).iter();
                if !plan.class.is_rebuilt_lazily() {
                    kept.of_file.insert(object, fields.map(|kept| (kept.field, &*kept.data)));
                } else if fields.len() > 0 {
                    // The fields of a part that is put off outlive the rebuild.
                    kept.named.insert(object, fields.map(|kept| kept_view(file, kept).to_field()).collect());
                }
            }
        }
        let (rebuilt, done) = rebuild(self.core, kept, &objects, self.has_reconstructed());
        let Rebuilt { conjugates, put_off, fields_kept, fields_lost, unbuilt } = rebuilt;
        let report = &mut *self.report;
        (report.conjugates_built, report.conjugates_put_off) = (conjugates, put_off);
        (report.fields_kept, report.fields_lost) = (fields_kept, fields_lost);
        done.map_err(|(object, error)| self.failed_at(object, error))?;
        Ok(unbuilt)
    }

    /// Checks if objects are constructed again. Such an object has a plugin part before the parts of the other objects are built.
    fn has_reconstructed(&self) -> bool {
        self.plans.iter().any(|plan| matches!(plan.object_plan, ObjectPlan::Reconstructed { .. }))
    }

    /// Adds the saved roots that are alive to the root set.
    pub(super) fn add_roots(&self) {
        for object in &self.roots {
            let _is_alive = self.core.world.objects.add_root(*object);
        }
    }

    fn all(&self) -> impl Iterator<Item = (ObjectHandle, &'a FlatRecord<'a>, &'a ClassPlan)> {
        (0..self.objects.len()).map(|at| self.at(at))
    }

    /// Returns the error of a created object.
    fn failed_at(&self, object: ObjectHandle, error: CallError) -> WorldError {
        let (_, record, _) = self.all().find(|(made, _, _)| *made == object).expect("each object has a record");
        failed(record, error)
    }

    /// Returns the object, the record and the class plan for this object index in the file.
    fn at(&self, at: usize) -> (ObjectHandle, &'a FlatRecord<'a>, &'a ClassPlan) {
        let (file, plans) = (self.file, self.plans);
        let record = &file.objects[at];
        (self.objects[at], record, &plans[record.class as usize])
    }

    fn each(&mut self, step: fn(&mut Self, usize) -> Result<(), CallError>) -> Result<(), WorldError> {
        let file = self.file;
        for (at, record) in file.objects.iter().enumerate() {
            step(self, at).map_err(|error| failed(record, error))?;
        }
        Ok(())
    }

    /// Allocates every object: sets its name and its outer, and zeroes its properties. Returns `true` if the file contains default
    /// subobjects.
    fn allocate(&mut self) -> Result<bool, WorldError> {
        let (core, file, plans) = (self.core, self.file, self.plans);
        let (objects, names) = (&core.world.objects, &core.world.names);
        self.objects.reserve(file.objects.len());
        self.roots.reserve(file.objects.len());
        let (mut later, mut parts) = (Vec::new(), Vec::new());
        // Limits the memory for generated names, because a file may contain any number in a name.
        let mut room = 2 * file.objects.len();
        for (record, index) in file.objects.iter().zip(0..) {
            let ClassPlan { class, object_plan, .. } = &plans[record.class as usize];
            let outer = record.outer.and_then(|outer| self.objects.get(outer as usize).copied());
            if outer.is_none() && record.outer.is_some() {
                later.push(index);
            }
            let flags = if record.part.is_some() { object_flags::SUBOBJECT } else { 0 };
            // A subobject may be named after its property. If the property was renamed, such a subobject receives the new name.
            let part = self.part_of(record);
            let name: &str = match &part {
                Some((part, current)) if *part == record.name => current,
                _ => &record.name,
            };
            let object = match record.outer {
                Some(_) => {
                    let name = Some(names.intern(name));
                    objects.allocate_as(class, name, outer.unwrap_or_default(), flags, class.depth())
                }
                None => objects.allocate_saved(class, name, class.depth(), &mut room),
            };
            if let ObjectPlan::Dormant { .. } = object_plan {
                // `fill` checks the references to this object, and adds its values later.
                objects.set_dormant(object, Dormant::default()).map_err(|error| failed(record, error))?;
            }
            self.objects.push(object);
            self.roots.extend(record.root.then_some(object));
            if let (Some((saved, name)), Some(outer)) = (part, record.outer) {
                let was_saved = *saved == *name;
                parts.push((object, name, outer as usize, was_saved));
            }
            if let Some(id) = record.lazy {
                core.world.lazy.put(LazyRaw { high: id.0, low: id.1 }, object);
            }
        }
        // Sets the outers that the first loop has skipped, because these outers are created after their inner objects.
        for index in later {
            let record = &file.objects[index];
            let outer = record.outer.map(|outer| self.objects[outer as usize]).unwrap_or_default();
            objects
                .move_to(self.objects[index], outer)
                .map_err(|error| failed(record, CallError::other(error.to_string())))?;
        }
        // Several saved subobjects of an object may now have one name. The subobject that was saved under this name is adopted last, so
        // this subobject keeps the name.
        for is_current in [false, true] {
            for (object, name, outer, _) in parts.iter().filter(|(.., was_saved)| *was_saved == is_current) {
                objects.adopt(self.objects[*outer], name, *object);
            }
        }
        Ok(!parts.is_empty())
    }

    /// Returns the saved and the current name of a default subobject in its outer.
    fn part_of(&self, record: &'a FlatRecord<'a>) -> Option<(&'a str, Rc<str>)> {
        let (part, outer) = (record.part.as_deref()?, record.outer?);
        let owner = &self.file.objects[outer as usize];
        Some((part, self.plans[owner.class as usize].part_name(part)))
    }

    /// Writes the saved values, and the defaults of all properties without a saved value. If an object must be constructed again, the
    /// values are written after the construction.
    fn fill(&mut self, at: usize) -> Result<(), CallError> {
        let (object, record, plan) = self.at(at);
        if matches!(plan.object_plan, ObjectPlan::Reconstructed { .. }) {
            return Ok(());
        }
        faults::at(ReloadStep::CarryObject)?;
        let objects = &self.core.world.objects;
        let (mut own, asleep, aside) = self.saved(object, record, plan);
        // `own` and `plan.defaults` contain properties of the current class, so the addresses of the properties can be compared.
        let is_saved = |property: &Rc<Property>| own.iter().any(|(saved, _)| Rc::ptr_eq(saved, property));
        let to_own = &mut self.to_own;
        let mut write = |to: &Body, from: &Body| {
            for (property, default) in plan.defaults.iter().filter(|(property, _)| !is_saved(property)) {
                let own = default.give(property, to.view(), from.view())?;
                to_own.extend(own.map(|to| OwnReference { object, property: Rc::clone(&property.text), to }));
            }
            own.iter().try_for_each(|(property, value)| to.view().write(property, value))
        };
        let cdo = plan.class.cdo.get();
        objects.with_body_to_write(object, |to| objects.with_body(cdo, |cdo| write(to, cdo)))???;
        own.clear();
        self.own = own;
        aside.into_iter().try_for_each(|(name, value)| objects.put_aside(object, &name, value))?;
        if let ObjectPlan::Dormant { .. } = plan.object_plan {
            let class = &self.file.classes[record.class as usize];
            let kept = record.kept.of(&self.file.kept).iter();
            let dormant = Dormant {
                class: class.path.as_str().into(),
                bases: class.bases.iter().map(|base| base.as_str().into()).collect(),
                values: asleep,
                fields: kept.map(|kept| kept_view(self.file, kept).to_field()).collect(),
            };
            objects.set_dormant(object, dormant)?;
            faults::at(ReloadStep::Sleep)?;
        }
        Ok(())
    }

    /// Splits the saved values into values for properties, dormant values, and values that are put aside. Omits values that are passed to
    /// conversion functions of plugin authors.
    fn saved(
        &mut self,
        object: ObjectHandle,
        record: &FlatRecord<'_>,
        plan: &ClassPlan,
    ) -> (Fitting, Asleep, SavedAside) {
        let names = &self.core.world.names;
        let class = &self.file.classes[record.class as usize];
        let mut references = References::new(&self.core.world, &self.objects);
        let (mut own, mut asleep, mut aside) = (std::mem::take(&mut self.own), Vec::new(), Vec::new());
        self.is_default.clear();
        self.is_default.resize(plan.targets.len(), true);
        for (index, saved) in record.values.of(&self.file.values) {
            let index = *index as usize;
            self.is_default[index] = false;
            let value = saved.value(names, &mut |reference: &FileReference<'_>| references.object(reference));
            let name = &class.properties[index].name;
            if !references.lost.is_empty() {
                let line = |path: String| format!("{}.{name}: nothing is at {path}", record.name);
                self.report.unresolved.extend(references.lost.drain(..).map(line));
            }
            match &plan.targets[index] {
                Target::Sleep => asleep.push((name.as_str().into(), Some(value))),
                Target::Nowhere { change } => self.report.properties[*change].dropped += 1,
                Target::Property { to, is_plain: true, .. } if fits(&to.ty, &value).is_ok() => {
                    own.push((Rc::clone(to), value));
                }
                Target::Property { to, change, conversions, .. } => {
                    let ty = class.properties[index].ty.as_str();
                    let pending = pending(self.core, (object, plan), (to, conversions), (ty, &value));
                    if let Some(pending) = pending {
                        self.conversions.push(pending);
                        change.iter().for_each(|change| self.report.properties[*change].count_conversion());
                        continue;
                    }
                    let world = &self.core.world;
                    let default = plan.fixed_default(self.core, to);
                    let fitting = convert_in_part(&value, to, default.as_ref(), names, &Remaining(world))
                        .filter(|(value, _)| fits(&to.ty, value).is_ok());
                    let refused = fitting.as_ref().and_then(|(value, _)| world.check_awake_objects_of(to, value).err());
                    let problem = match &refused {
                        Some(error) => Some(error.to_string()),
                        None if fitting.is_some() || change.is_some() => None,
                        None => Some(format!("the saved value is not of type {}", to.ty)),
                    };
                    let problem = problem.map(|problem| format!("{}.{name}: {problem}", record.name));
                    self.report.unresolved.extend(problem);
                    let fitting = fitting.filter(|_| refused.is_none());
                    let is_cut = fitting.as_ref().is_some_and(|(_, extent)| extent.is_part());
                    let properties = &mut self.report.properties;
                    let cut_line = |properties| PropertyChange::line(properties, short(&class.path), &to.text, CUT);
                    if let Some(change) = change.or_else(|| is_cut.then(|| cut_line(&mut *properties))) {
                        let change = &mut properties[change];
                        *match fitting {
                            Some(_) if is_cut => &mut change.dormant,
                            Some(_) => &mut change.kept,
                            None => &mut change.defaulted,
                        } += 1;
                    }
                    let left = match &fitting {
                        Some((fitted, extent)) => extent.aside(value, fitted),
                        None => Some(value.into()),
                    };
                    own.extend(fitting.map(|(value, _)| (Rc::clone(to), value)));
                    aside.extend(left.map(|value| (Rc::clone(&to.text), value)));
                }
            }
        }
        // Processes the properties without a saved value, which had their default values when the object was saved.
        for index in (0..plan.targets.len()).filter(|index| self.is_default[*index]) {
            match &plan.targets[index] {
                Target::Sleep => asleep.push((class.properties[index].name.as_str().into(), None)),
                Target::Property { change: Some(change), .. } => self.report.properties[*change].followed += 1,
                Target::Property { change: None, .. } | Target::Nowhere { .. } => {}
            }
        }
        for change in &plan.added {
            self.report.properties[*change].followed += 1;
        }
        if let ObjectPlan::Dormant { .. } = plan.object_plan {
            // Marks own values that equal a default of the base class, because the missing class may have another default.
            for (property, value) in &own {
                let default = self.core.world.objects.read_value(plan.class.cdo.get(), &property.text);
                if default.as_ref() == Ok(value) && aside.iter().all(|(name, _)| *name != property.text) {
                    aside.push((Rc::clone(&property.text), Aside::from(value.clone()).of_type(&property.ty)));
                }
            }
        }
        (own, asleep, aside)
    }

    /// Runs the conversions of plugin authors, and writes the converted values.
    fn convert(&mut self) -> Result<(), WorldError> {
        let core = self.core;
        for pending in std::mem::take(&mut self.conversions) {
            let object = pending.object;
            let failed = |value: String, error: CallError| {
                CallError::other(format!("the conversion of {value} {error}; correct the function of `#[migrate]`"))
            };
            let write = |name: &Rc<str>, value: &Value| core.world.objects.write_unasked(object, name, value);
            pending.apply(core, failed, write).map_err(|error| self.failed_at(object, error))?;
        }
        Ok(())
    }

    /// If the native base class of an object's class has changed, constructs the object again, and then writes the saved values.
    fn reconstruct_object(&mut self, at: usize) -> Result<(), CallError> {
        let (object, record, plan) = self.at(at);
        if !matches!(plan.object_plan, ObjectPlan::Reconstructed { .. }) {
            return Ok(());
        }
        let (own, _, aside) = self.saved(object, record, plan);
        // A file contains the values that differ from the class default object.
        reconstruct(&self.core.world, &self.core.plugins(), object, None)
            .map_err(|error| CallError::other(error.to_string()))?;
        let objects = &self.core.world.objects;
        for (property, value) in own {
            objects.write_unasked(object, &property.text, &value)?;
        }
        aside.into_iter().try_for_each(|(name, value)| objects.put_aside(object, &name, value))?;
        faults::at(ReloadStep::Reconstruction)?;
        Ok(())
    }

    /// Sets the references of an object to its subobjects, creates missing subobjects, and marks subobjects that the class no longer
    /// declares for destruction.
    fn gather_parts(&mut self, at: usize) -> Result<(), CallError> {
        let (object, _, plan) = self.at(at);
        let objects = &self.core.world.objects;
        let declared = &plan.subobjects;
        let is_dormant = matches!(plan.object_plan, ObjectPlan::Dormant { .. });
        for (name, child) in objects.parts(object) {
            let expected = declared.iter().find(|subobject| subobject.name == name);
            let is_right = expected.is_some_and(|subobject| {
                // The declaration of the owner may contain an earlier name of the class.
                let path = self.core.world.types.redirected(&plan.class.subobject_class(subobject));
                objects.waits_for(child).is_some_and(|class| class == path)
                    || objects.class(child).is_some_and(|class| class.path == path)
            });
            let has_name = objects.subobject(object, &name) == Some(child);
            match expected.filter(|_| is_right && has_name) {
                Some(subobject) => {
                    objects.write_unasked(object, &subobject.property.text, &Value::Object(child))?;
                }
                // A dormant object keeps its subobjects until the class of the object is declared again. Only the subobject that is found
                // under its name is kept, because a save requires unique names.
                None if is_dormant && has_name => {}
                None => {
                    let words = format!("{}.{name} is no longer a subobject: destroyed", plan.class.short_path());
                    self.note_structure(words);
                    self.doomed.insert(child);
                }
            }
        }
        if is_dormant || self.doomed.contains(&object) {
            return Ok(());
        }
        let mut added = Vec::new();
        for subobject in declared {
            let has_it = |child: ObjectHandle| !self.doomed.contains(&child);
            if objects.subobject(object, &subobject.name).is_some_and(has_it) {
                continue;
            }
            let made = add_subobject(&self.core.world, &self.core.plugins(), object, subobject);
            added.push(made.map_err(|error| CallError::other(error.to_string()))?);
            faults::at(ReloadStep::AddSubobject)?;
            self.note_structure(format!("{}.{}: every object gets one", plan.class.short_path(), subobject.name));
        }
        if added.len() > 1 {
            self.to_own.extend(added.into_iter().flat_map(|part| references_of(self.core, part)));
        }
        Ok(())
    }

    fn note_structure(&mut self, line: String) {
        if !self.report.structure.contains(&line) {
            self.report.structure.push(line);
        }
    }
}

/// Creates the conversion of a saved value of the type `ty`. The type is empty if the value was saved while its class was missing. Returns
/// `None` if no function accepts the value.
fn pending(
    core: &Core,
    (object, plan): (ObjectHandle, &ClassPlan),
    (to, functions): (&Rc<Property>, &[Rc<Function>]),
    (ty, value): (&str, &Value),
) -> Option<PendingConversion> {
    if functions.is_empty() {
        return None;
    }
    let (world, original) = (&core.world, Aside::from(value.clone()));
    let held = (!ty.is_empty()).then_some((ty, value));
    let (function, argument) = select(world, &Remaining(world), functions, &original, (&to.ty, held))?;
    let (from, _) = types_of(&function)?;
    world.check_awake_objects_of(function.arguments().first()?, &argument).ok()?;
    let targets = vec![(Rc::clone(to), Some(original.of_type(from)))];
    Some(PendingConversion { object, template: plan.class.cdo.get(), function, argument, targets })
}

fn failed(record: &FlatRecord<'_>, error: CallError) -> WorldError {
    WorldError::Object { object: record.name.to_string(), error }
}

fn kept_view<'a>(file: &'a FlatFile<'_>, kept: &'a FlatKept<'_>) -> KeptView<'a> {
    let [class, name] = &file.fields[kept.field as usize];
    KeptView { class, name, data: &kept.data }
}
