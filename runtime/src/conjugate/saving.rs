//! Saves the kept fields of plugin parts, for a reload or a saved world. The code in `build.rs` calls the hooks of the module.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::boundary::CallError;
use crate::conjugate::build::{Plugins, PutKept};
use crate::conjugate::packed::PackedFields;
use crate::conjugate::pairs::Part;
use crate::handles::{ClassId, ObjectHandle, PartPtr};
use crate::object::class::Class;
use crate::object::dormant::KeptField;

/// Data that is shared between the saves of many objects.
#[derive(Default)]
pub(crate) struct KeptShare {
    names: FxHashSet<Rc<str>>,
    classes: KeptClasses,
}

/// Destination of the kept fields of many objects.
enum Destination<'a, 'p> {
    /// Receives the packed fields of plugin parts whose new class has equal kept fields.
    Packed(&'a mut PackedFields),
    /// Receives fields by name.
    Named(&'a mut PutKept<'p>),
}

/// New classes of the plugin parts whose fields are packed, by the class of the object. See [`Plugins::equal_classes`]. `None` for a class
/// without kept fields. The check of one object is sufficient for its class, because kept fields depend only on the declaration of the
/// class.
type KeptClasses = FxHashMap<ClassId, Option<Rc<[Option<ClassId>]>>>;

impl Plugins<'_> {
    /// Passes the kept fields of the first objects in `objects` to `put`. Returns the number of saved objects, which is at least one unless
    /// the first object causes an error. If a field of the next object cannot be serialized, also returns the error. `put` may then have
    /// received some fields of this object. A caller can pass one `share` for all objects of the current generations.
    pub(crate) fn save_kept(
        &self,
        objects: &[ObjectHandle],
        share: &mut KeptShare,
        put: &mut PutKept<'_>,
    ) -> (usize, Result<(), CallError>) {
        let (done, saved) = self.save_runs(objects, share, &mut Destination::Named(&mut *put));
        match objects.first() {
            Some(first) if done == 0 && saved.is_ok() => {
                let saved = self.save_parts(*first, (&mut share.classes, &mut PackedFields::default()), |_| None, put);
                (usize::from(saved.is_ok()), saved)
            }
            _ => (done, saved),
        }
    }

    /// Saves the kept fields of one object for a reload. If the new class of a plugin part has equal kept fields, packs the fields of the
    /// part into `packed`. Returns the fields of all remaining parts by name. `class_after` returns the new class of the object. Packs
    /// no field if the new class is rebuilt lazily, or if `class_after` returns `None`, for example because the object will be dormant. In
    /// the case of `None`, also returns the fields of a part that is not yet built.
    pub(crate) fn save_for_reload<'c>(
        &self,
        object: ObjectHandle,
        (share, packed): (&mut KeptShare, &mut PackedFields),
        class_after: impl FnOnce(ClassId) -> Option<&'c Rc<Class>>,
    ) -> Result<Vec<KeptField>, CallError> {
        let KeptShare { names, classes } = share;
        let mut kept = Vec::new();
        let mut put = |_object: ObjectHandle, class: &Rc<str>, name: &str, data: &[u8]| {
            let name = names.get(name).cloned().unwrap_or_else(|| {
                let name: Rc<str> = name.into();
                names.insert(Rc::clone(&name));
                name
            });
            kept.push(KeptField { class: Rc::clone(class), name, data: data.to_vec() });
        };
        self.save_parts(object, (classes, packed), class_after, &mut put)?;
        Ok(kept)
    }

    /// Implements [`Plugins::save_for_reload`], and passes each field that is not packed to `put`.
    fn save_parts<'c>(
        &self,
        object: ObjectHandle,
        (classes, packed): (&mut KeptClasses, &mut PackedFields),
        class_after: impl FnOnce(ClassId) -> Option<&'c Rc<Class>>,
        put: &mut PutKept<'_>,
    ) -> Result<(), CallError> {
        let of = self.world.objects.class_id(object).unwrap_or(ClassId::NONE);
        let Some(key) = self.key_of(object) else {
            // A reload that keeps the class leaves the fields of an unbuilt part in the list of `pairs`.
            if class_after(of).is_none() && self.world.objects.class_awaiting_part(object).is_some() {
                let fields = self.pairs.unbuilt(object);
                fields.iter().for_each(|field| put(object, &field.class, &field.name, &field.data));
            }
            return Ok(());
        };
        // Runs after the check for an unbuilt part, because an earlier build of the class may have saved the fields of this part.
        let known = classes.get(&of).cloned();
        if matches!(known, Some(None)) {
            return Ok(());
        }
        let parts = self.pairs.parts(key);
        let equal = known.flatten().unwrap_or_else(|| {
            let equal = self.equal_classes(&parts, class_after(of));
            let has_fields = parts.iter().any(|part| part.hooks.kept_count != 0);
            classes.insert(of, has_fields.then(|| Rc::clone(&equal)));
            equal
        });
        // Packs no fields if an earlier reload has put fields of the object aside, because those fields are compared with saved fields by
        // name.
        let has_aside = equal.iter().any(Option::is_some) && self.world.objects.has_fields_aside(object);
        for (at, part) in parts.iter().enumerate() {
            match equal.get(at).copied().flatten().filter(|_| !has_aside) {
                Some(class) => self.pack_parts(part, class, std::iter::once((object, part.ptr)), packed).1?,
                None => self.save_named(part, std::iter::once((object, part.ptr)), put).1?,
            }
        }
        Ok(())
    }

    /// Returns one entry per part, base first: the new class of the part, or `None` if the fields of the part are saved by name. `after` is
    /// the new class of the object.
    fn equal_classes(&self, parts: &[Part], after: Option<&Rc<Class>>) -> Rc<[Option<ClassId>]> {
        let equal = |part: &Part| {
            let after = after.filter(|after| !after.is_rebuilt_lazily())?;
            let new = self.kept_class(&part.path)?;
            let is_part = after.lineage().any(|class| class.id == new);
            let print = self.hooks.borrow().get(new)?.hooks.kept_print;
            (is_part && print != 0 && print == part.hooks.kept_print).then_some(new)
        };
        parts.iter().map(equal).collect()
    }

    /// Saves the kept fields of the first objects in `objects`, like [`Plugins::save_for_reload`], with one red frame for adjacent objects
    /// of a class. Stops before the first object that needs [`Plugins::save_for_reload`]: an object with several plugin parts, with fields
    /// that are saved by name, or of a class that `share` lacks. Returns the number of saved objects. If the plugin part of the next object
    /// has rejected the call, also returns the error.
    pub(crate) fn pack_runs(
        &self,
        objects: &[ObjectHandle],
        share: &KeptShare,
        packed: &mut PackedFields,
    ) -> (usize, Result<(), CallError>) {
        self.save_runs(objects, share, &mut Destination::Packed(packed))
    }

    /// Implements [`Plugins::pack_runs`] for both destinations. Saves fields by name only if their values are of standard types.
    fn save_runs(
        &self,
        objects: &[ObjectHandle],
        share: &KeptShare,
        to: &mut Destination<'_, '_>,
    ) -> (usize, Result<(), CallError>) {
        let store = &self.world.objects;
        let mut done = 0;
        while let Some(first) = objects.get(done)
            && let Some(of) = store.class_id(*first)
            && let Some(known) = share.classes.get(&of).map(Option::as_deref)
        {
            let run = objects[done..].iter().copied().take_while(|object| store.class_id(*object) == Some(of));
            let (count, result) = match known {
                // Stops before an unbuilt part, because an earlier build of the class may have saved the fields of this part.
                None => (run.take_while(|object| self.key_of(*object).is_some()).count(), Ok(())),
                // Other fields are saved object by object, so the parts of this object are not looked up twice.
                Some([reader]) if reader.is_some() == matches!(to, Destination::Packed(_)) => {
                    self.save_run(*first, run, *reader, to)
                }
                Some(_) => (0, Ok(())),
            };
            done += count;
            if count == 0 || result.is_err() {
                return (done, result);
            }
        }
        (done, Ok(()))
    }

    /// Saves the fields of the objects in `run`, which begins with `first`. Each of these objects has a single plugin part. `reader` is the
    /// new class that reads packed fields. Stops before an object without a cached part, and before an object whose fields must be saved
    /// by name because an earlier reload has put fields of the object aside.
    fn save_run(
        &self,
        first: ObjectHandle,
        run: impl Iterator<Item = ObjectHandle>,
        reader: Option<ClassId>,
        to: &mut Destination<'_, '_>,
    ) -> (usize, Result<(), CallError>) {
        let store = &self.world.objects;
        let parts = self.key_of(first).map(|key| self.pairs.parts(key)).unwrap_or_default();
        let [part] = &*parts else { return (0, Ok(())) };
        let run = run.map_while(|object| store.part(object, part.class).map(|part| (object, PartPtr(part))));
        match (to, reader) {
            (Destination::Packed(packed), Some(reader)) => {
                let run = run.take_while(|(object, _)| !store.has_fields_aside(*object));
                self.pack_parts(part, reader, run, packed)
            }
            (Destination::Named(put), None) if part.hooks.kept_print != 0 => self.save_named(part, run, &mut **put),
            _ => (0, Ok(())),
        }
    }
}
