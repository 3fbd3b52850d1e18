//! Writes the records of all living objects without changing the objects. Plugins serialize the kept fields of their plugin parts. For each
//! class, the comparison of properties with their defaults is planned once. Before the first object is written, the names and outers of all
//! objects are collected, because names must be unique in the file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::callback::is_closure;
use crate::conjugate::saving::KeptShare;
use crate::handles::{ClassId, Name, ObjectHandle};
use crate::object::World;
use crate::object::body::Body;
use crate::object::class::Class;
use crate::object::dormant::Dormant;
use crate::object::naming::{DEFAULT_PREFIX, GeneratedName, name_problem};
use crate::object::property::{Property, PropertyType};
use crate::object::storage::transfer::{Rule, Transfer};
use crate::reload::defaults::PropertyDefault;
use crate::reload::plan::{is_subobject, is_transient, native_ancestor};
use crate::world::canonical::KeptBytes;
use crate::world::disk::unwritten;
use crate::world::error::WorldError;
use crate::world::file_value::{FileReference, FileValue};
use crate::world::format::Records;
use crate::world::records::{ClassRecord, ObjectRecord, PropertyRecord, StructRecord};

/// Maximum number of objects whose kept fields are saved at once. The fields of these objects are in memory together.
const RUN: usize = 32;

/// Plan for saving the objects of one class.
struct ClassNotes {
    /// Index of the class in the file.
    index: u32,
    /// Class of the objects' bodies. For dormant objects, the nearest available base of the missing class.
    class: Rc<Class>,
    /// Saved properties, each with its default.
    properties: Vec<(Rc<Property>, PropertyDefault)>,
    /// Compares the saved properties with their defaults. `None` if a default depends on the object.
    compare: Option<Transfer>,
}

/// Saved values, each with the index of its property.
type Saved<'a> = Vec<(u32, FileValue<'a>)>;

/// Saved objects in the order of the file, and the index of each object in the file.
struct FileIndexes<'a> {
    world: &'a World,
    living: Vec<ObjectHandle>,
    /// Index of each object in the file, plus one. Zero for an object that is not saved. Indexed by the slot of the object.
    by_slot: Vec<u32>,
}

impl<'a> FileIndexes<'a> {
    fn new(world: &'a World) -> Self {
        let mut living = world.objects.living();
        // Latest class, and true if its objects are closures. Adjacent objects mostly have one class.
        let mut last = (ClassId::NONE, false);
        living.retain(|object| {
            let class = world.objects.class_id(*object).unwrap_or(ClassId::NONE);
            if class != last.0 {
                last = (class, world.objects.class(*object).is_some_and(|class| is_closure(&class.path)));
            }
            !last.1
        });
        let slots = living.iter().map(|object| object.index() as usize + 1).max().unwrap_or_default();
        let mut by_slot = vec![0; slots];
        for (object, number) in living.iter().zip(1..) {
            by_slot[object.index() as usize] = number;
        }
        Self { world, living, by_slot }
    }

    fn of(&self, object: ObjectHandle) -> Option<u32> {
        let index = self.by_slot.get(object.index() as usize)?.checked_sub(1)?;
        (self.living[index as usize] == object).then_some(index)
    }

    /// Returns the saved reference for an object. Closures and destroyed objects have none.
    fn reference(&self, object: ObjectHandle) -> FileReference<'static> {
        let by_path = || Some(FileReference::Path(self.world.template_path(object)?.into()));
        self.of(object).map(FileReference::In).or_else(by_path).unwrap_or(FileReference::None)
    }
}

#[derive(Clone, Copy)]
enum FileName {
    /// Generated name, which no other object has.
    Generated(GeneratedName),
    Other(Name),
}

/// Name and outer of an object in the file.
struct Entry {
    name: FileName,
    outer: Option<u32>,
    /// Name of the default subobject in the outer.
    part: Option<Rc<str>>,
    /// Set if the outer of the object is not saved.
    is_orphan: bool,
}

impl Entry {
    fn of(indexes: &FileIndexes<'_>, object: ObjectHandle) -> Self {
        let objects = &indexes.world.objects;
        let owner = objects.outer(object).filter(|outer| !outer.is_none());
        let outer = owner.and_then(|outer| indexes.of(outer));
        let owner_of_part = outer.and_then(|_| objects.owner(object));
        let part = owner_of_part.and_then(|owner| objects.parts(owner).into_iter().find(|(_, child)| *child == object));
        let other = || FileName::Other(objects.name(object).unwrap_or_default());
        Self {
            name: objects.unique_name(object).map_or_else(other, FileName::Generated),
            outer,
            part: part.map(|(part, _)| part),
            is_orphan: owner.is_some() && outer.is_none(),
        }
    }
}

/// Writes all living objects to `to`, and returns their number. The caller seals the file. `path` is the path of the file, for errors.
/// Fails if a kept field cannot be serialized.
pub(super) fn gather(core: &Core, path: &Path, to: &mut dyn Write) -> Result<u64, WorldError> {
    let indexes = FileIndexes::new(&core.world);
    let mut entries: Vec<_> = indexes.living.iter().map(|object| Entry::of(&indexes, *object)).collect();
    name_apart(&core.world, &mut entries);
    let mut records = Records::new(to, entries.len() as u32).map_err(unwritten(path))?;
    let mut gathering = Gathering {
        core,
        indexes: &indexes,
        notes: FxHashMap::default(),
        last: None,
        classes: Vec::new(),
        structs: BTreeMap::new(),
        share: KeptShare::default(),
        are_own: Vec::new(),
    };
    // Uses one record for all objects, because the record can reuse its memory.
    let mut record = ObjectRecord::default();
    let mut done = 0;
    while done < entries.len() {
        let run = done..done + gathering.save_kept(&indexes.living[done..], &mut record.kept)?;
        done = run.end;
        for (object, entry) in indexes.living[run.clone()].iter().zip(&entries[run]) {
            gathering.object(*object, entry, &mut record)?;
            records.object(&record).map_err(unwritten(path))?;
        }
    }
    let structs: Vec<_> = gathering.structs.into_values().collect();
    records.finish(&gathering.classes, &structs).map_err(unwritten(path))?;
    Ok(entries.len() as u64)
}

/// Replaces invalid names, and makes names unique within each outer. Duplicates have two causes. First, an object whose outer was destroyed
/// (an orphan) is saved without an outer. Another object without an outer may have the name of the orphan. Second, a class may have gained
/// a subobject with the name of an existing object. In both cases the orphan or the existing object receives a new name in the file.
/// Subobjects are named first, and orphans last, because no saved reference uses the path of an orphan.
fn name_apart(world: &World, entries: &mut [Entry]) {
    let mut used_names: FxHashSet<(Option<u32>, Name)> = FxHashSet::default();
    let mut numbers: FxHashMap<(Option<u32>, String), u32> = FxHashMap::default();
    let mut apart = Vec::new();
    let rank = |entry: &Entry| if entry.part.is_some() { 0 } else { 1 + u8::from(entry.is_orphan) };
    let other = |(at, entry): (usize, &Entry)| match entry.name {
        FileName::Generated(_) => None,
        FileName::Other(name) => Some((at, name)),
    };
    let mut named: Vec<_> = entries.iter().enumerate().filter_map(other).collect();
    named.sort_by_key(|(at, _)| rank(&entries[*at]));
    used_names.reserve(named.len());
    for (at, name) in named {
        let entry = &entries[at];
        // The name of a subobject is always valid.
        let is_name = entry.part.is_some() || name_problem(&world.names.text(name), entry.outer.is_none()).is_none();
        if !is_name || !used_names.insert((entry.outer, name)) {
            apart.push((at, name));
        }
    }
    if !apart.is_empty() {
        let mut text = String::new();
        for entry in &*entries {
            if let FileName::Generated(name) = entry.name {
                world.objects.write_name(name, &mut text);
                used_names.insert((entry.outer, world.names.intern(&text)));
            }
        }
    }
    for (at, mut name) in apart {
        let Entry { outer, .. } = entries[at];
        let text = world.names.text(name);
        let stem = text.strip_prefix(DEFAULT_PREFIX).filter(|rest| !rest.is_empty()).unwrap_or(&text);
        let stem = &stem[..stem.floor_char_boundary(1000)];
        // For some stems, such as `Default_`, the name with a number is invalid.
        let is_stem = name_problem(&format!("{stem}_1"), outer.is_none()).is_none();
        let stem = if is_stem { stem } else { "Object" }.to_owned();
        let number = numbers.entry((outer, stem.clone())).or_default();
        while {
            *number += 1;
            name = world.names.intern(&format!("{stem}_{number}"));
            !used_names.insert((outer, name))
        } {}
        entries[at].name = FileName::Other(name);
    }
}

struct Gathering<'a> {
    core: &'a Core,
    indexes: &'a FileIndexes<'a>,
    /// Plans by class of the body. For a dormant object, the key also contains the path of the missing class.
    notes: FxHashMap<(ClassId, Option<Rc<str>>), Rc<ClassNotes>>,
    /// Plan of the last object that is not dormant. Adjacent objects mostly have one class.
    last: Option<Rc<ClassNotes>>,
    classes: Vec<ClassRecord>,
    structs: BTreeMap<Rc<str>, StructRecord>,
    share: KeptShare,
    /// Buffer for the comparisons of one object.
    are_own: Vec<bool>,
}

impl Gathering<'_> {
    /// Replaces `kept` by the kept fields of the first objects in `objects`. Returns the number of these objects, which is at least one.
    fn save_kept(&mut self, objects: &[ObjectHandle], kept: &mut KeptBytes) -> Result<usize, WorldError> {
        kept.clear();
        let objects = &objects[..objects.len().min(RUN)];
        let mut put =
            |object: ObjectHandle, class: &Rc<str>, name: &str, data: &[u8]| kept.put(object, class, name, data);
        let (count, saved) = self.core.plugins().save_kept(objects, &mut self.share, &mut put);
        saved.map(|()| count).map_err(|error| {
            let object = objects.get(count).copied().unwrap_or_default();
            WorldError::Keep { object: self.core.world.objects.display(object).to_string(), error }
        })
    }

    /// Fills the record of one object, whose kept fields are saved.
    fn object<'e>(
        &mut self,
        object: ObjectHandle,
        entry: &'e Entry,
        record: &mut ObjectRecord<'e, KeptBytes>,
    ) -> Result<(), WorldError> {
        let world = &self.core.world;
        match entry.name {
            FileName::Generated(name) => world.objects.write_name(name, record.name.to_mut()),
            FileName::Other(name) => {
                let to = record.name.to_mut();
                to.clear();
                to.push_str(&world.names.text(name));
            }
        }
        let name = &record.name;
        let failed = |error| WorldError::Object { object: name.to_string(), error };
        let notes = self.notes(object).map_err(failed)?;
        record.values.clear();
        let (values, kept) = (&mut record.values, &mut record.kept);
        let read = world.objects.with_body(object, |body| self.values(object, body, &notes, values, kept));
        read.map_err(failed)?.map_err(failed)?;
        record.kept.select(object);
        record.class = notes.index;
        record.outer = entry.outer;
        record.part = entry.part.as_deref().map(Cow::Borrowed);
        record.root = world.objects.is_root(object);
        record.lazy = world.lazy.find(object).map(|id| (id.high, id.low));
        Ok(())
    }

    fn notes(&mut self, object: ObjectHandle) -> Result<Rc<ClassNotes>, CallError> {
        let objects = &self.core.world.objects;
        let class = objects.class_id(object).filter(|_| !objects.is_dormant(object));
        if let Some(notes) = self.last.as_ref().filter(|notes| Some(notes.class.id) == class) {
            return Ok(Rc::clone(notes));
        }
        let key = objects.with_body(object, |body| {
            let waits_for = body.dormant.as_ref().map(|dormant| Rc::clone(&dormant.class));
            (Rc::clone(body.class()), waits_for, body.dormant.as_ref().map(|dormant| dormant.bases.clone()))
        });
        let (class, waits_for, bases) = key?;
        let is_dormant = waits_for.is_some();
        let key = (class.id, waits_for);
        let notes = match self.notes.get(&key) {
            Some(notes) => Rc::clone(notes),
            None => {
                let notes = Rc::new(self.new_notes(class, key.1.as_deref(), bases)?);
                self.notes.insert(key, Rc::clone(&notes));
                notes
            }
        };
        if !is_dormant {
            self.last = Some(Rc::clone(&notes));
        }
        Ok(notes)
    }

    /// Plans saving the objects of a class, and adds the record of the class to the file.
    fn new_notes(
        &mut self,
        class: Rc<Class>,
        waits_for: Option<&str>,
        bases: Option<Vec<Rc<str>>>,
    ) -> Result<ClassNotes, CallError> {
        let mut properties = Vec::new();
        for property in class.properties.iter().filter(|property| !is_transient(property) && !is_subobject(property)) {
            properties.push((Rc::clone(property), PropertyDefault::in_class(self.core, &class, property)?));
            describe_structs(&property.ty, &mut self.structs);
        }
        let is_plain = properties.iter().all(|(_, default)| matches!(default, PropertyDefault::Value));
        let rules = properties.iter().map(|(property, _)| Rule::Follow { from: &**property, to: &**property });
        let compare = is_plain.then(|| Transfer::new((class.schema(), class.schema()), rules)).transpose()?;
        let bases = bases.unwrap_or_else(|| {
            let chain = class.module_chain();
            chain.iter().map(|class| Rc::clone(&class.path)).filter(|path| *path != class.path).collect()
        });
        let record = ClassRecord {
            path: waits_for.unwrap_or(&class.path).to_owned(),
            bases: bases.iter().map(ToString::to_string).collect(),
            native: native_ancestor(&class).to_string(),
            properties: properties.iter().map(|(property, _)| property_record(property)).collect(),
        };
        let index = self.classes.len() as u32;
        self.classes.push(record);
        Ok(ClassNotes { index, class, properties, compare })
    }

    /// Adds the values of an object that differ from the defaults to `values`. If the object is dormant, adds its kept fields to `kept`.
    fn values(
        &mut self,
        object: ObjectHandle,
        body: &Body,
        notes: &ClassNotes,
        values: &mut Saved<'_>,
        kept: &mut KeptBytes,
    ) -> Result<(), CallError> {
        let (core, indexes, are_own) = (self.core, self.indexes, &mut self.are_own);
        let (world, cdo, own) = (&core.world, notes.class.cdo.get(), body.view());
        let reference = |object| indexes.reference(object);
        // An own value of a dormant object that equals the default of the base class is also put aside.
        let aside = body.removed.as_deref().filter(|_| body.dormant.is_some());
        let is_own = |property: &Property| -> Result<bool, CallError> {
            let Some(aside) = aside.and_then(|aside| aside.get(&property.text)) else { return Ok(false) };
            let now = own.read(property)?;
            Ok(aside.value == now || aside.instead.as_ref() == Some(&now))
        };
        world.objects.with_body(cdo, |template| {
            let default = template.view();
            let is_compared =
                notes.compare.as_ref().is_some_and(|compare| compare.compare(own, (default, default), are_own));
            for ((property, kind), index) in notes.properties.iter().zip(0..) {
                let is_default = match is_compared {
                    true => !are_own[index as usize],
                    false => kind.is_had(core, property, (object, own), (cdo, default))?,
                };
                let is_own = is_own(property)?;
                if is_default && !is_own {
                    continue;
                }
                let value = FileValue::of(&own.read(property)?, &world.names, &reference);
                // A reference to a destroyed object is saved as an empty reference, so such a reference equals an empty default.
                if is_own
                    || !property.ty.names_objects()
                    || value != FileValue::of(&default.read(property)?, &world.names, &reference)
                {
                    values.push((index, value));
                }
            }
            Ok::<_, CallError>(())
        })??;
        if let Some(dormant) = body.dormant.as_deref() {
            values.extend(self.asleep(dormant, body.class(), notes.index as usize));
            dormant.fields.iter().for_each(|field| kept.put(object, &field.class, &field.name, &field.data));
        }
        Ok(())
    }

    /// Returns the dormant values of an object, with their property indices. Records new properties without a type, because the class of
    /// the object is missing. Omits values whose names now belong to properties of a base class.
    fn asleep(&mut self, dormant: &Dormant, base: &Class, class: usize) -> Saved<'static> {
        let record = &mut self.classes[class];
        let (names, indexes) = (&self.core.world.names, self.indexes);
        let mut values = Vec::new();
        let is_free = |name: &str| base.properties.iter().all(|property| *property.text != *name);
        for (name, value) in dormant.values.iter().filter(|(name, _)| is_free(name)) {
            let known = record.properties.iter().position(|property| property.name == **name);
            let index = known.unwrap_or(record.properties.len());
            if known.is_none() {
                record.properties.push(PropertyRecord { name: name.to_string(), ty: String::new() });
            }
            if let Some(value) = value {
                values.push((index as u32, FileValue::of(value, names, &|object| indexes.reference(object))));
            }
        }
        values
    }
}

fn property_record(property: &Property) -> PropertyRecord {
    PropertyRecord { name: property.text.to_string(), ty: property.ty.to_string() }
}

/// Records every struct type that values of this type contain.
fn describe_structs(ty: &PropertyType, structs: &mut BTreeMap<Rc<str>, StructRecord>) {
    let PropertyType::Struct(of) = ty else {
        return ty.inner_types(&mut |inner| describe_structs(inner, structs));
    };
    if structs.contains_key(&of.path) {
        return;
    }
    let fields = of.fields().iter().map(property_record).collect();
    structs.insert(Rc::clone(&of.path), StructRecord { path: of.path.to_string(), fields });
    of.fields().iter().for_each(|field| describe_structs(&field.ty, structs));
}
