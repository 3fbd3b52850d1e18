//! Calls one method with equal arguments on many objects. The objects are grouped by class. All calls of a group share one boundary
//! crossing. If a class has no fast path, each object of the class is called separately on the slow path.
#![expect(unsafe_code, reason = "vouches for the objects that it passes to a batch")]

use std::rc::Rc;

use alcedo_abi::direct::{BatchItem, DirectStatus};
use alcedo_abi::zcall::Slot;

use crate::boundary::{CallError, not_found};
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::fast_paths::MethodFastPath;
use crate::bridge::host_direct::NOT_DONE;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::class::Class;
use crate::object::objects::ListEdit;
use crate::object::word_offset::WordOffset;

/// Objects of one class, in the order of the caller's list, with the fast path of the class.
struct Group {
    class: ClassId,
    fast_path: Option<MethodFastPath>,
    /// Offset and name of the property that selects objects.
    condition: Option<(WordOffset<bool>, Rc<str>)>,
    items: Vec<BatchItem>,
    /// Set if each object of the group has a plugin part.
    is_whole: bool,
    /// Index of each object in the caller's list.
    indexes: Vec<u32>,
}

/// Objects grouped by class. The groups are valid until `FastPaths::population` or the call epoch differs from its value at the time of
/// grouping.
pub(crate) struct Groups {
    population: u64,
    resolved_at: u64,
    /// Counter of destroyed objects at the time of grouping. All grouped objects were alive at that time.
    ends: u64,
    groups: Vec<Group>,
    ended: usize,
    /// Number of objects that the grouping skipped because their class has no override of the method.
    passed: usize,
    /// Classes of the skipped objects.
    skipped: Vec<ClassId>,
}

/// Change to a list of objects between two values of `FastPaths::population` in one host.
#[derive(Debug)]
pub(crate) struct ListChange {
    /// Value of `FastPaths::population` before the change.
    pub(crate) before: u64,
    /// Value of `FastPaths::population` after the change.
    pub(crate) after: u64,
    /// Class epoch of the host, which this change does not affect. Different hosts have different class epochs.
    pub(crate) classes: u64,
    pub(crate) edits: Vec<ListEdit>,
}

/// Conditions that select the objects of a batch.
pub(crate) struct Terms<'a> {
    pub(crate) condition: Option<&'a str>,
    /// Skips objects whose class has no override of the method.
    pub(crate) only_overrides: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) called: usize,
    pub(crate) ended: usize,
    pub(crate) unmet: usize,
    pub(crate) passed: usize,
    pub(crate) crossings: usize,
    /// Index, object and error of each failed call.
    pub(crate) failed: Vec<(u32, ObjectHandle, CallError)>,
}

impl Groups {
    /// Groups objects by class, in the order of the first object of each class. Returns an error if the condition is not a `bool` property
    /// of the class of each object.
    pub(crate) fn of(
        core: &Core,
        method: &MethodCall,
        objects: &[ObjectHandle],
        terms: &Terms<'_>,
    ) -> Result<Self, CallError> {
        let (population, resolved_at) = (core.fast_paths.population(), core.zcalls.epoch().count());
        let ends = core.fast_paths.columns().ends();
        let (groups, skipped) = (Vec::new(), Vec::new());
        let mut made = Self { population, resolved_at, ends, groups, ended: 0, passed: 0, skipped };
        let mut last = 0;
        for (object, index) in objects.iter().zip(0..) {
            let Some(entry) = core.fast_paths.columns().find(*object) else {
                made.ended += 1;
                continue;
            };
            if made.skipped.contains(&entry.class) {
                made.passed += 1;
                continue;
            }
            if made.groups.get(last).is_none_or(|group| group.class != entry.class) {
                let known = made.groups.iter().position(|group| group.class == entry.class);
                last = match known {
                    Some(known) => known,
                    None => match Group::of(core, method, *object, terms)? {
                        Some(group) => {
                            made.groups.push(group);
                            made.groups.len() - 1
                        }
                        None => {
                            made.skipped.push(entry.class);
                            made.passed += 1;
                            continue;
                        }
                    },
                };
            }
            let group = &mut made.groups[last];
            group.insert(core, group.items.len(), (*object, entry.memory), index);
        }
        Ok(made)
    }

    /// Applies a change in the caller's list to the groups. Returns `false` if the caller must create the groups again, for example because
    /// a different host has filled the list.
    pub(crate) fn follow(&mut self, core: &Core, change: &ListChange) -> bool {
        let ListChange { before, after, classes, ref edits } = *change;
        let is_known = self.population == before && self.resolved_at == core.zcalls.epoch().get() && self.ended == 0;
        let is_here = classes == core.world.types.epoch() && after == core.fast_paths.population();
        if !is_known || !is_here {
            return false;
        }
        let are_followed = edits.iter().all(|edit| match *edit {
            ListEdit::Removed(at) => {
                self.remove(at as u32);
                true
            }
            ListEdit::Added(at, object) => self.add(core, at as u32, object),
        });
        self.groups.retain(|group| !group.items.is_empty());
        (self.population, self.ends) = (after, core.fast_paths.columns().ends());
        // Checks that the groups are still in the order of their first objects.
        are_followed && self.groups.is_sorted_by_key(|group| group.indexes[0])
    }

    fn remove(&mut self, index: u32) {
        let mut was_called = false;
        for group in &mut self.groups {
            let at = group.indexes.partition_point(|other| *other < index);
            if group.indexes.get(at) == Some(&index) {
                group.items.remove(at);
                group.indexes.remove(at);
                was_called = true;
            }
            group.indexes[at..].iter_mut().for_each(|other| *other -= 1);
        }
        self.passed -= usize::from(!was_called);
    }

    fn add(&mut self, core: &Core, index: u32, object: ObjectHandle) -> bool {
        let Some(entry) = core.fast_paths.columns().find(object) else { return false };
        for group in &mut self.groups {
            let at = group.indexes.partition_point(|other| *other < index);
            group.indexes[at..].iter_mut().for_each(|other| *other += 1);
        }
        if self.skipped.contains(&entry.class) {
            self.passed += 1;
            return true;
        }
        let Some(group) = self.groups.iter_mut().find(|group| group.class == entry.class) else { return false };
        let at = group.indexes.partition_point(|other| *other < index);
        group.insert(core, at, (object, entry.memory), index);
        true
    }

    /// Checks if the groups are still valid.
    #[inline]
    pub(crate) fn is_right(&self, core: &Core) -> bool {
        self.population == core.fast_paths.population() && self.resolved_at == core.zcalls.epoch().get()
    }

    /// Calls the method on all objects. A failed call does not stop the remaining calls. `slow` calls one object on the slow path.
    /// `results`, if present, receives the result word of each object at the index of the object.
    pub(crate) fn call(
        &self,
        core: &Core,
        words: &[u64],
        mut results: Option<&mut [Option<u64>]>,
        slow: &mut dyn FnMut(ObjectHandle) -> Result<Slot, CallError>,
    ) -> Done {
        let mut done = Done { ended: self.ended, passed: self.passed, ..Done::default() };
        // The slow path may run host code without an open red frame. This host code may run a safe point or a reload. If the population has
        // changed, the remaining objects also take the slow path.
        let mut is_right = true;
        let mut slow = |object: ObjectHandle| {
            let before = core.fast_paths.population();
            let called = slow(object);
            (called, before == core.fast_paths.population())
        };
        for group in &self.groups {
            let mut answers = results.as_ref().map(|_| vec![NOT_DONE; group.items.len()]);
            let mut at = 0;
            while at < group.items.len() {
                // For an object without a plugin part, the slow path returns the error of a missing part.
                let Some(fast_path) = group.fast_path.filter(|_| is_right && !group.items[at].part.is_null()) else {
                    is_right &= group.one(core, at, &mut done, results.as_deref_mut(), &mut slow);
                    at += 1;
                    continue;
                };
                let without = |item: &BatchItem| item.part.is_null();
                let to = if group.is_whole { None } else { group.items[at..].iter().position(without) };
                let to = to.map_or(group.items.len(), |more| at + more);
                let clean_up = |height| core.red.clean_up(height);
                let out = answers.as_deref_mut().map(|answers| &mut answers[..to]);
                // SAFETY: the groups are valid: the caller has checked cached groups (`is_right`, `follow`), and new groups have just been
                // created. Since then only batches and slow calls without changes have run, in red frames without a safe point. So each
                // item still refers to the object and part that it was resolved to. The condition is a `bool` property of the class.
                let outcome = unsafe {
                    core.fast_paths.call_batch(
                        &fast_path,
                        &group.items[..to],
                        at,
                        (words, out),
                        (group.offset(), self.ends),
                        clean_up,
                    )
                };
                let Some(outcome) = outcome else {
                    // The fast path is no longer valid, because called code has changed the state of the host.
                    is_right &= group.one(core, at, &mut done, results.as_deref_mut(), &mut slow);
                    at += 1;
                    continue;
                };
                done.crossings += 1;
                done.ended += outcome.ended;
                done.unmet += outcome.unmet;
                done.called += outcome.at - at - outcome.ended - outcome.unmet;
                at = outcome.at;
                if let Some(error) = outcome.failed {
                    let last = at - 1;
                    done.failed.push((group.indexes[last], group.items[last].object, error));
                }
            }
            if let (Some(answers), Some(results)) = (answers, results.as_deref_mut()) {
                let called =
                    answers.iter().zip(&group.indexes).filter(|(answer, _)| answer.status == DirectStatus::DONE);
                called.for_each(|(answer, index)| results[*index as usize] = Some(answer.bits));
            }
        }
        done
    }
}

impl Group {
    /// Inserts an object at position `at` of the group. `index` is the object's index in the caller's list.
    #[inline]
    fn insert(&mut self, core: &Core, at: usize, (object, memory): (ObjectHandle, *mut u8), index: u32) {
        let part =
            self.fast_path.and_then(|fast_path| core.pairs.find_part(&core.world.objects, object, fast_path.owner()));
        // Objects without a plugin part take the slow path, which returns the error for the missing part.
        let part = part.map_or(std::ptr::null_mut(), |part| part.0);
        self.is_whole &= !part.is_null();
        self.items.insert(at, BatchItem { object, memory, part });
        self.indexes.insert(at, index);
    }

    fn offset(&self) -> Option<usize> {
        self.condition.as_ref().map(|(condition, _)| condition.offset())
    }

    fn of(
        core: &Core,
        method: &MethodCall,
        object: ObjectHandle,
        terms: &Terms<'_>,
    ) -> Result<Option<Self>, CallError> {
        let Some(class) = core.world.objects.class(object) else { return Ok(None) };
        if terms.only_overrides && !method.is_overridden(&class) {
            return Ok(None);
        }
        let fast_path = method.fast_path(core, object);
        let condition = terms.condition.map(|name| condition(&class, name)).transpose()?;
        Ok(Some(Self { class: class.id, fast_path, condition, items: Vec::new(), is_whole: true, indexes: Vec::new() }))
    }

    /// Reads the property that selects objects. If a reload inside the batch has replaced the class, looks the property up by its name.
    fn is_met(&self, core: &Core, object: ObjectHandle) -> Result<bool, CallError> {
        let Some((condition, name)) = &self.condition else { return Ok(true) };
        let known = core.fast_paths.columns().read_word(object, condition);
        known.map_or_else(|| core.world.get(object, &**name), Ok)
    }

    /// Calls one object on the slow path. Returns `true` if the groups are still valid after the call.
    fn one(
        &self,
        core: &Core,
        at: usize,
        done: &mut Done,
        results: Option<&mut [Option<u64>]>,
        slow: &mut dyn FnMut(ObjectHandle) -> (Result<Slot, CallError>, bool),
    ) -> bool {
        let (object, index) = (self.items[at].object, self.indexes[at]);
        if core.fast_paths.columns().find(object).is_none() {
            done.ended += 1;
            return true;
        }
        let (called, is_right) = match self.is_met(core, object) {
            Ok(true) => slow(object),
            Ok(false) => {
                done.unmet += 1;
                return true;
            }
            Err(error) => (Err(error), true),
        };
        done.called += 1;
        match called {
            Ok(slot) => {
                if let Some(results) = results {
                    results[index as usize] = Some(slot.bits());
                }
            }
            Err(error) => done.failed.push((index, object, error)),
        }
        is_right
    }
}

/// Returns the offset of the `bool` property `name` in objects of the class, and the name of the property.
fn condition(class: &Rc<Class>, name: &str) -> Result<(WordOffset<bool>, Rc<str>), CallError> {
    let property = class.find_property(name);
    let found = property.and_then(|property| Some((WordOffset::of(class, property)?, Rc::clone(&property.text))));
    found.ok_or_else(|| not_found(format!("{} has no `bool` property {name}, on which the batch depends", class.path)))
}
