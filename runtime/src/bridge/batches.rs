//! Many calls of one method with the same arguments: objects in groups of one class, and one crossing for each group. Objects of a
//! class into which there is no short way are called one by one, the long way.
#![expect(unsafe_code, reason = "vouches for the objects that it hands to a batch")]

use std::rc::Rc;

use alcedo_abi::direct::{BatchItem, DirectAnswer, DirectStatus};
use alcedo_abi::zcall::Slot;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::ways::MethodWay;
use crate::handles::{ClassId, ObjectHandle};
use crate::object::class::Class;
use crate::object::word_place::WordPlace;

/// The objects of one class, in the order they were given, ready to be called.
struct Group {
    class: ClassId,
    way: Option<MethodWay>,
    condition: Option<WordPlace<bool>>,
    items: Vec<BatchItem>,
    /// Whether a plugin part was found for each.
    is_whole: bool,
    /// The place of each among the objects that were given.
    places: Vec<u32>,
}

/// Objects in groups, and what that was found by. It is right while neither has changed.
pub(crate) struct Groups {
    population: u64,
    looked: u64,
    /// The count of ends at which those in the groups were there.
    ends: u64,
    groups: Vec<Group>,
    /// Objects that were not there.
    ended: usize,
    /// Objects of a class that has no override.
    passed: usize,
}

/// What is asked of the objects of a batch beside the call.
pub(crate) struct Terms<'a> {
    /// The name of a `bool` property that is to be set.
    pub(crate) condition: Option<&'a str>,
    /// Whether those are passed over whose class has no override.
    pub(crate) only_overrides: bool,
}

/// How a batch went.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) called: usize,
    pub(crate) ended: usize,
    pub(crate) unmet: usize,
    pub(crate) passed: usize,
    pub(crate) crossings: usize,
    /// The place of each that failed, and with what.
    pub(crate) failed: Vec<(u32, ObjectHandle, CallError)>,
}

impl Groups {
    /// The objects by class, in the order in which the classes come first.
    ///
    /// # Errors
    /// When the condition is no `bool` property of an object's class.
    pub(crate) fn of(
        core: &Core,
        method: &MethodCall,
        objects: &[ObjectHandle],
        terms: &Terms<'_>,
    ) -> Result<Self, CallError> {
        let (population, looked) = (core.ways.population(), core.zcalls.stamp().count());
        let ends = core.ways.columns().ends();
        let mut made = Self { population, looked, ends, groups: Vec::new(), ended: 0, passed: 0 };
        let mut skipped: Vec<ClassId> = Vec::new();
        let mut last = 0;
        for (object, place) in objects.iter().zip(0..) {
            let Some(entry) = core.ways.columns().find(*object) else {
                made.ended += 1;
                continue;
            };
            if skipped.contains(&entry.class) {
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
                            skipped.push(entry.class);
                            made.passed += 1;
                            continue;
                        }
                    },
                };
            }
            let group = &mut made.groups[last];
            let part = group.way.and_then(|way| core.pairs.look(&core.world.objects, *object, way.owner()));
            // One without goes the long way, which says what is missing.
            let part = part.map_or(std::ptr::null_mut(), |part| part.0);
            group.is_whole &= !part.is_null();
            group.items.push(BatchItem { object: *object, memory: entry.memory, part });
            group.places.push(place);
        }
        Ok(made)
    }

    /// Whether nothing has changed since.
    #[inline]
    pub(crate) fn is_right(&self, core: &Core) -> bool {
        self.population == core.ways.population() && self.looked == core.zcalls.stamp().get()
    }

    /// Calls the method on all of them. A failure concerns its object only. `long` calls it on one the long way; `results`, where they
    /// are wanted, receives a word at each object's place.
    pub(crate) fn call(
        &self,
        core: &Core,
        words: &[u64],
        mut results: Option<&mut [Option<u64>]>,
        long: &mut dyn FnMut(ObjectHandle) -> Result<Slot, CallError>,
    ) -> Done {
        let mut done = Done { ended: self.ended, passed: self.passed, ..Done::default() };
        // The long way may run code of the host with no red frame open, which may reach a safe point, or reload. Where anything has
        // changed after it, what was found of the objects is not used any more.
        let mut is_right = true;
        let mut long = |object: ObjectHandle| {
            let before = core.ways.population();
            let called = long(object);
            (called, before == core.ways.population())
        };
        for group in &self.groups {
            let mut given =
                results.as_ref().map(|_| vec![DirectAnswer::without(DirectStatus::NOT_DONE); group.items.len()]);
            let mut at = 0;
            while at < group.items.len() {
                // A plugin part that is missing is seen by the long way.
                let Some(way) = group.way.filter(|_| is_right && !group.items[at].part.is_null()) else {
                    is_right &= group.one(core, at, &mut done, results.as_deref_mut(), &mut long);
                    at += 1;
                    continue;
                };
                let without = |item: &BatchItem| item.part.is_null();
                let to = if group.is_whole { None } else { group.items[at..].iter().position(without) };
                let to = to.map_or(group.items.len(), |more| at + more);
                let settle = |lent| core.red.settle(lent);
                let out = given.as_deref_mut().map(|given| &mut given[..to]);
                // SAFETY: the items were found by class and part when the population was what it is said to be; whoever has kept them
                // has compared it (`is_right`), or they were found just now. Since then only batches have gone on, each in a red frame,
                // so without a safe point, and calls the long way that have changed nothing. The condition is a `bool` property of
                // the class.
                let went = unsafe {
                    core.ways.call_batch(
                        &way,
                        &group.items[..to],
                        at,
                        (words, out),
                        (group.offset(), self.ends),
                        settle,
                    )
                };
                let Some(went) = went else {
                    // The ways were shut meanwhile.
                    is_right &= group.one(core, at, &mut done, results.as_deref_mut(), &mut long);
                    at += 1;
                    continue;
                };
                done.crossings += 1;
                done.ended += went.ended;
                done.unmet += went.unmet;
                done.called += went.at - at - went.ended - went.unmet;
                at = went.at;
                if let Some(error) = went.failed {
                    let last = at - 1;
                    done.failed.push((group.places[last], group.items[last].object, error));
                }
            }
            if let (Some(given), Some(results)) = (given, results.as_deref_mut()) {
                let called = given.iter().zip(&group.places).filter(|(answer, _)| answer.status == DirectStatus::DONE);
                called.for_each(|(answer, place)| results[*place as usize] = Some(answer.bits));
            }
        }
        done
    }
}

impl Group {
    fn offset(&self) -> Option<usize> {
        self.condition.map(|place| place.offset())
    }

    /// The group of the objects of the class of this one; none where they are passed over.
    fn of(
        core: &Core,
        method: &MethodCall,
        object: ObjectHandle,
        terms: &Terms<'_>,
    ) -> Result<Option<Self>, CallError> {
        let Some(class) = core.world.objects.class(object) else { return Ok(None) };
        if terms.only_overrides && Rc::ptr_eq(&method.answers(&class), method.function()) {
            return Ok(None);
        }
        let way = method.way(core, object);
        let condition = terms.condition.map(|name| condition(&class, name)).transpose()?;
        Ok(Some(Self { class: class.id, way, condition, items: Vec::new(), is_whole: true, places: Vec::new() }))
    }

    /// Calls it on one, the long way. Whether nothing has changed meanwhile.
    fn one(
        &self,
        core: &Core,
        at: usize,
        done: &mut Done,
        results: Option<&mut [Option<u64>]>,
        long: &mut dyn FnMut(ObjectHandle) -> (Result<Slot, CallError>, bool),
    ) -> bool {
        let (object, place) = (self.items[at].object, self.places[at]);
        if core.ways.columns().find(object).is_none() {
            done.ended += 1;
            return true;
        }
        if self.condition.is_some_and(|place| core.ways.columns().read_word(object, &place) == Some(false)) {
            done.unmet += 1;
            return true;
        }
        done.called += 1;
        let (called, is_right) = long(object);
        match called {
            Ok(slot) => {
                if let Some(results) = results {
                    results[place as usize] = Some(slot.bits());
                }
            }
            Err(error) => done.failed.push((place, object, error)),
        }
        is_right
    }
}

/// Where objects of the class have that `bool`.
fn condition(class: &Rc<Class>, name: &str) -> Result<WordPlace<bool>, CallError> {
    let found = class.find_property(name).and_then(|property| WordPlace::<bool>::of(class, property));
    found.ok_or_else(|| CallError::NotFound {
        message: format!("{} has no `bool` property {name}, on which a batch is to depend", class.path),
    })
}
