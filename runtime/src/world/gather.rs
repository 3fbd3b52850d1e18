//! Converts all alive objects to records without changing the objects. Plugins serialize their kept fields.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::callback::CLOSURE;
use crate::conjugate::build::KeptShare;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::body::Body;
use crate::object::class::Class;
use crate::object::dormant::{Dormant, KeptField, KeptValue};
use crate::object::naming::{DEFAULT_PREFIX, name_problem};
use crate::object::property::{Property, PropertyType};
use crate::reload::plan::{PropertyDefault, is_subobject, is_transient, native_ancestor};
use crate::world::error::WorldError;
use crate::world::file_value::{FileReference, FileValue, ToFile};
use crate::world::records::{ClassRecord, KeptRecord, ObjectRecord, PropertyRecord, StructRecord, WorldFile};

/// Cached data of the objects of one class.
struct ClassNotes {
    /// Index of the class in the file.
    index: u32,
    /// Class of the objects' bodies.
    class: Rc<Class>,
    /// Saved properties, each with its default.
    properties: Vec<(Rc<Property>, PropertyDefault)>,
}

/// Saved values, each with the index of its property.
type Saved = Vec<(u32, FileValue)>;

/// Maps each object to its index in the file.
struct FileIndexes<'a> {
    world: &'a World,
    indexes: FxHashMap<ObjectHandle, u32>,
}

impl ToFile for FileIndexes<'_> {
    fn reference(&self, object: ObjectHandle) -> FileReference {
        match self.indexes.get(&object) {
            Some(index) => FileReference::In(*index),
            None => self.world.path_of(object).map_or(FileReference::None, FileReference::Path),
        }
    }
}

/// Checks if objects of the class are closures. Closures cannot be saved, because they exist only in this process.
fn is_closure(class: &Class) -> bool {
    &*class.package == "Core" && class.name.starts_with(CLOSURE)
}

/// Converts the whole world. Fails if a kept field cannot be serialized.
pub(super) fn gather(core: &Core) -> Result<WorldFile, WorldError> {
    let world = &core.world;
    let mut living = world.objects.living();
    living.retain(|object| world.objects.class(*object).is_none_or(|class| !is_closure(&class)));
    let indexes = living.iter().copied().zip(0..).collect();
    let mut gathering = Gathering {
        core,
        indexes: FileIndexes { world, indexes },
        classes: FxHashMap::default(),
        structs: BTreeMap::new(),
        file: WorldFile::default(),
        share: KeptShare::default(),
    };
    let mut orphans = FxHashSet::default();
    for (at, object) in living.into_iter().enumerate() {
        let record = gathering.object(object)?;
        if record.outer.is_none() && world.objects.outer(object).is_some_and(|outer| !outer.is_none()) {
            orphans.insert(at);
        }
        gathering.file.objects.push(record);
    }
    let Gathering { structs, mut file, .. } = gathering;
    name_apart(&mut file, &orphans);
    file.structs = structs.into_values().collect();
    Ok(file)
}

/// Makes names unique within each outer. Duplicates have two causes. First, an object whose outer was destroyed is saved without an outer;
/// another object without an outer may have this name. Second, a class may have gained a subobject with the name of an existing object. In
/// both cases the object gets a new name in the file. Subobjects keep their names. `orphans` are the objects whose outer is not saved.
/// Orphans are named last, because no saved reference uses their path.
fn name_apart(file: &mut WorldFile, orphans: &FxHashSet<usize>) {
    let mut used_names: FxHashSet<(Option<u32>, String)> = FxHashSet::default();
    let parts = file.objects.iter().filter(|record| record.part.is_some());
    used_names.extend(parts.map(|record| (record.outer, record.name.clone())));
    let mut numbers: FxHashMap<(Option<u32>, String), u32> = FxHashMap::default();
    let mut apart = Vec::new();
    let others = (0..file.objects.len()).filter(|at| file.objects[*at].part.is_none());
    let (last, first): (Vec<_>, Vec<_>) = others.partition(|at| orphans.contains(at));
    for at in first.into_iter().chain(last) {
        let record = &file.objects[at];
        let is_name = name_problem(&record.name, record.outer.is_none()).is_none();
        if !is_name || !used_names.insert((record.outer, record.name.clone())) {
            apart.push(at);
        }
    }
    for at in apart {
        let ObjectRecord { name, outer, .. } = &mut file.objects[at];
        let stem = name.strip_prefix(DEFAULT_PREFIX).filter(|rest| !rest.is_empty()).unwrap_or(name);
        let stem = stem[..stem.floor_char_boundary(1000)].to_owned();
        let number = numbers.entry((*outer, stem.clone())).or_default();
        while {
            *number += 1;
            *name = format!("{stem}_{number}");
            !used_names.insert((*outer, name.clone()))
        } {}
    }
}

struct Gathering<'a> {
    core: &'a Core,
    indexes: FileIndexes<'a>,
    /// Cached data by class of the body. The key of a dormant object also contains the path of its missing class.
    classes: FxHashMap<(ClassId, Option<Rc<str>>), Rc<ClassNotes>>,
    structs: BTreeMap<Rc<str>, StructRecord>,
    file: WorldFile,
    share: KeptShare,
}

impl Gathering<'_> {
    fn object(&mut self, object: ObjectHandle) -> Result<ObjectRecord, WorldError> {
        let (core, world) = (self.core, &self.core.world);
        let failed = |error| WorldError::Keep { object: world.objects.display(object).to_string(), error };
        let kept = core.plugins().save_kept(object, &mut self.share).map_err(failed)?;
        let name = world.objects.name(object).map(|name| world.names.text(name).to_string()).unwrap_or_default();
        let failed = |error| WorldError::Object { object: name.clone(), error };
        let notes = self.notes(object).map_err(failed)?;
        let read = world.objects.with_body(object, |body| self.values(object, body, &notes)).map_err(failed)?;
        let (values, asleep) = read.map_err(failed)?;
        let outer = world.objects.outer(object).filter(|outer| self.indexes.indexes.contains_key(outer));
        let part = outer.and_then(|outer| {
            let parts = world.objects.parts(outer);
            parts.into_iter().find(|(_, child)| *child == object).map(|(part, _)| part.to_string())
        });
        Ok(ObjectRecord {
            class: notes.index,
            outer: outer.map(|outer| self.indexes.indexes[&outer]),
            part,
            root: world.objects.is_root(object),
            lazy: world.lazy.find(object).map(|id| (id.high, id.low)),
            values,
            kept: kept.into_iter().chain(asleep).map(kept_record).collect(),
            name,
        })
    }

    fn notes(&mut self, object: ObjectHandle) -> Result<Rc<ClassNotes>, CallError> {
        let key = self.core.world.objects.with_body(object, |body| {
            let waits_for = body.dormant.as_ref().map(|dormant| Rc::clone(&dormant.class));
            (Rc::clone(body.class()), waits_for, body.dormant.as_ref().map(|dormant| dormant.bases.clone()))
        });
        let (class, waits_for, bases) = key?;
        let key = (class.id, waits_for.clone());
        if let Some(notes) = self.classes.get(&key) {
            return Ok(Rc::clone(notes));
        }
        let mut properties = Vec::new();
        for property in class.properties.iter().filter(|property| !is_transient(property) && !is_subobject(property)) {
            let default = self.core.world.objects.with_body(class.cdo.get(), |cdo| cdo.view().read(property))??;
            properties.push((Rc::clone(property), PropertyDefault::of(self.core, &class, &default)));
            describe_structs(&property.ty, &mut self.structs);
        }
        let bases = bases.unwrap_or_else(|| {
            let chain = class.module_chain();
            chain.iter().map(|class| Rc::clone(&class.path)).filter(|path| *path != class.path).collect()
        });
        let record = ClassRecord {
            path: waits_for.as_deref().unwrap_or(&class.path).to_owned(),
            bases: bases.iter().map(ToString::to_string).collect(),
            native: native_ancestor(&class).to_string(),
            properties: properties.iter().map(|(property, _)| property_record(property)).collect(),
        };
        let index = self.file.classes.len() as u32;
        self.file.classes.push(record);
        let notes = Rc::new(ClassNotes { index, class, properties });
        self.classes.insert(key, Rc::clone(&notes));
        Ok(notes)
    }

    /// Returns the values that differ from the default, and the kept fields of a dormant object.
    fn values(
        &mut self,
        object: ObjectHandle,
        body: &Body,
        notes: &ClassNotes,
    ) -> Result<(Saved, Vec<KeptField>), CallError> {
        let world = &self.core.world;
        let mut values = Vec::new();
        world.objects.with_body(notes.class.cdo.get(), |cdo| {
            for ((property, default), index) in notes.properties.iter().zip(0..) {
                let (own, cdo_and_default) = ((object, body.view()), (notes.class.cdo.get(), cdo.view()));
                let is_default = default.is_had(self.core, property, own, cdo_and_default)?;
                if !is_default {
                    let [own, default] = [body, cdo].map(|body| body.view().read(property));
                    let [own, default] = [own?, default?].map(|it| FileValue::of(&it, &world.names, &self.indexes));
                    // A reference to a destroyed object equals an empty reference.
                    if own != default {
                        values.push((index, own));
                    }
                }
            }
            Ok::<_, CallError>(())
        })??;
        let Some(dormant) = body.dormant.as_deref() else { return Ok((values, Vec::new())) };
        values.extend(self.asleep(dormant, notes.index as usize));
        Ok((values, dormant.fields.clone()))
    }

    /// Returns the dormant values by name. The types are derived from the values, because the class of the object is missing.
    fn asleep(&mut self, dormant: &Dormant, class: usize) -> Saved {
        let record = &mut self.file.classes[class];
        let mut values = Vec::new();
        for (name, value) in &dormant.values {
            let known = record.properties.iter().position(|property| property.name == **name);
            let index = known.unwrap_or(record.properties.len());
            if known.is_none() {
                record.properties.push(PropertyRecord { name: name.to_string(), ty: String::new() });
            }
            if let KeptValue::Own(value) = value {
                values.push((index as u32, FileValue::of(value, &self.core.world.names, &self.indexes)));
            }
        }
        values
    }
}

fn kept_record(field: KeptField) -> KeptRecord {
    let KeptField { class, name, data } = field;
    KeptRecord { class: class.to_string(), name: name.to_string(), data }
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
