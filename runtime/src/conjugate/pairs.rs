//! The map between objects and their plugin parts. `life.rs` says what may happen to a conjugate; this file owns
//! the entries. A conjugate whose module does not take calls is expired, whatever its own life says: that is how all that
//! a module has built is set aside, and taken up again, at the cost of its gate.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use smallvec::SmallVec;

use crate::border::CallError;
use crate::cells::RefCell;
use crate::conjugate::class_hook_table::ClassHooks;
use crate::conjugate::gate::Gate;
use crate::conjugate::life::{Color, Event, Life, LifeError};
use crate::handles::{ClassId, ModuleId, ObjectHandle, PartPtr, last_serial};
use crate::object::hot_columns::PluginPart;
use crate::object::objects::Objects;

/// A conjugate. Stale once it ended; never another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConjugateKey {
    index: u32,
    /// From 1.
    serial: u32,
}

impl ConjugateKey {
    /// As the opaque word that the object store keeps beside an object; zero is none.
    pub(crate) fn to_word(self) -> u64 {
        u64::from(self.serial) << 32 | u64::from(self.index)
    }

    /// Back from the word.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        (word != 0).then_some(Self { index: word as u32, serial: (word >> 32) as u32 })
    }
}

/// One dynamic class's share of a plugin part. There are as many as objects, so what all of a class have in common
/// stands once: the class it was built for, its hooks and the gate of its module.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The address only the module may follow.
    pub ptr: PartPtr,
    /// What it is a part of.
    pub of: Rc<ClassHooks>,
}

impl Deref for Part {
    type Target = ClassHooks;

    fn deref(&self) -> &ClassHooks {
        &self.of
    }
}

/// The parts of one conjugate. Few chains have more than two dynamic classes, so few allocate.
type Parts = SmallVec<[Part; 2]>;

/// A place for conjugates, one after the other. It is written to field by field: a conjugate that were moved in as a whole
/// would take several times as long.
#[derive(Debug)]
struct PairSlot {
    /// Of the conjugate that is in it, or of the next.
    serial: u32,
    color: Color,
    /// Of the conjugate in this place; dead where there is none.
    life: Life,
    /// The gate of the module of its most derived class. The modules of its other classes live at least as long: a
    /// module that builds on them is replaced with them.
    gate: Option<Rc<Gate>>,
    parts: Parts,
}

/// All places.
#[derive(Debug)]
struct PairSlots {
    places: Vec<PairSlot>,
    free: Vec<u32>,
    /// That of the last conjugate which a place may have.
    last_serial: u32,
}

impl Default for PairSlots {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), last_serial: last_serial() }
    }
}

impl PairSlot {
    fn is_of(&self, key: ConjugateKey) -> bool {
        self.serial == key.serial && self.life != Life::Dead
    }

    fn is_open(&self) -> bool {
        self.gate.as_ref().is_some_and(|gate| gate.is_open())
    }
}

impl PairSlots {
    #[inline]
    fn get(&self, key: ConjugateKey) -> Option<&PairSlot> {
        self.places.get(key.index as usize).filter(|place| place.is_of(key))
    }

    #[inline]
    fn get_mut(&mut self, key: ConjugateKey) -> Option<&mut PairSlot> {
        self.places.get_mut(key.index as usize).filter(|place| place.is_of(key))
    }

    #[inline]
    fn begin_red(&mut self, gate: &Rc<Gate>) -> ConjugateKey {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.add(),
        };
        let place = &mut self.places[index as usize];
        (place.color, place.life) = (Color::Red, Life::Unbuilt);
        place.gate = Some(Rc::clone(gate));
        ConjugateKey { index, serial: place.serial }
    }

    #[cold]
    fn add(&mut self) -> u32 {
        let index = u32::try_from(self.places.len()).expect("fewer than four billion conjugates");
        self.places.push(PairSlot { serial: 1, color: Color::Red, life: Life::Dead, gate: None, parts: Parts::new() });
        index
    }

    /// Ends a conjugate: how far its life had come, and its parts, derived before base. Its place waits for the next one,
    /// unless its serials are used up.
    fn remove(&mut self, key: ConjugateKey) -> Option<(Color, Life, Vec<Part>)> {
        let last_serial = self.last_serial;
        let place = self.get_mut(key)?;
        let life = std::mem::replace(&mut place.life, Life::Dead);
        place.gate = None;
        let (color, parts) = (place.color, place.parts.drain(..).rev().collect());
        if place.serial < last_serial {
            place.serial += 1;
            self.free.push(key.index);
        }
        Some((color, life, parts))
    }
}

/// Builds the plugin part of an object, unless it has one.
pub(crate) type BuildLate = dyn Fn(ObjectHandle) -> Result<(), CallError>;

/// All pairs. Game thread only; no borrow is held while plugin code runs.
#[derive(Default)]
pub(crate) struct Pairs {
    entries: RefCell<PairSlots>,
    built: Cell<u64>,
    /// Set while plugin parts are built anew.
    late: RefCell<Option<Rc<BuildLate>>>,
}

/// Until this is dropped, an object that is called and has no plugin part gets one first.
pub(crate) struct LateParts<'a>(&'a Pairs);

impl Drop for LateParts<'_> {
    fn drop(&mut self) {
        let _it = self.0.late.take();
    }
}

impl Pairs {
    /// Conjugates built since the start.
    pub(crate) fn built(&self) -> u64 {
        self.built.get()
    }

    /// Starts a red conjugate that lives with the module behind `gate`; its parts are pushed base first. What is to stand
    /// beside its object.
    #[inline(always)]
    pub(crate) fn begin_red(&self, gate: &Rc<Gate>) -> (ConjugateKey, PluginPart) {
        let key = self.entries.borrow_mut().begin_red(gate);
        (key, PluginPart::of(key.to_word()))
    }

    /// Adds the part of the next class of the chain.
    ///
    /// # Errors
    /// The part, when the conjugate has ended meanwhile: a red constructor may destroy its own object.
    pub(crate) fn push_part(&self, key: ConjugateKey, part: Part) -> Result<(), Part> {
        match self.entries.borrow_mut().get_mut(key) {
            Some(conjugate) => {
                conjugate.parts.push(part);
                Ok(())
            }
            None => Err(part),
        }
    }

    /// The conjugate is whole. What stands beside its object from now on: `plugin part`, and the part of its most derived class.
    ///
    /// # Errors
    /// When it was whole already, or is gone.
    pub(crate) fn finish(&self, key: ConjugateKey, plugin_part: PluginPart) -> Result<PluginPart, LifeError> {
        let mut entries = self.entries.borrow_mut();
        let Some(conjugate) = entries.get_mut(key) else {
            return Life::Dead.step(Color::Red, Event::Build).map(|_| plugin_part);
        };
        conjugate.life = conjugate.life.step(conjugate.color, Event::Build)?;
        self.built.set(self.built.get() + 1);
        let derived = conjugate.parts.last();
        Ok(derived.map_or(plugin_part, |part| plugin_part.with_part(part.ptr.0, part.class)))
    }

    /// The conjugate is whole with this part, which is the only one of its chain. What stands beside its object from now on:
    /// `plugin part`, and the part.
    ///
    /// # Errors
    /// The part, when the conjugate has ended meanwhile: a red constructor may destroy its own object.
    #[inline(always)]
    pub(crate) fn finish_with(
        &self,
        key: ConjugateKey,
        part: Part,
        plugin_part: PluginPart,
    ) -> Result<PluginPart, Part> {
        let mut entries = self.entries.borrow_mut();
        let Some(conjugate) = entries.get_mut(key) else { return Err(part) };
        let Ok(life) = conjugate.life.step(conjugate.color, Event::Build) else { return Err(part) };
        conjugate.life = life;
        self.built.set(self.built.get() + 1);
        let plugin_part = plugin_part.with_part(part.ptr.0, part.class);
        conjugate.parts.push(part);
        Ok(plugin_part)
    }

    /// The part for `class` of the conjugate of a living object. Of its most derived class that is one look at what stands
    /// beside it; whether the conjugate has expired is not checked here, but by the gate that the caller goes through.
    #[inline]
    pub(crate) fn look(&self, objects: &Objects, object: ObjectHandle, class: ClassId) -> Option<PartPtr> {
        match objects.part(object, class) {
            Some(part) => Some(PartPtr(part)),
            None => self.part_of(objects, object, class).map(|part| part.ptr),
        }
    }

    /// While the guard is there, `build` is called for an object that is called and has no plugin part.
    pub(crate) fn build_late(&self, build: Rc<BuildLate>) -> LateParts<'_> {
        *self.late.borrow_mut() = Some(build);
        LateParts(self)
    }

    /// Builds the part that an object without one should have, if it is the time for that.
    ///
    /// # Errors
    /// The red constructor's own error.
    #[cold]
    pub(crate) fn late(&self, object: ObjectHandle) -> Result<(), CallError> {
        let build = self.late.borrow().clone();
        build.map_or(Ok(()), |build| build(object))
    }

    /// The part for `class` of the conjugate of a living object, and whose it is, when it is not expired.
    #[cold]
    pub(crate) fn part_of(&self, objects: &Objects, object: ObjectHandle, class: ClassId) -> Option<Part> {
        self.part(ConjugateKey::from_word(objects.conjugate(object)?)?, class)
    }

    /// Whether plugin code began it; none for an expired one.
    pub(crate) fn color(&self, key: ConjugateKey) -> Option<Color> {
        let entries = self.entries.borrow();
        entries.get(key).filter(|conjugate| conjugate.is_open()).map(|conjugate| conjugate.color)
    }

    /// The part for `class`, when the conjugate is not expired. Parts that were pushed are found before the
    /// conjugate is whole: a derived red constructor may reach its base's part.
    pub(crate) fn part(&self, key: ConjugateKey, class: ClassId) -> Option<Part> {
        let entries = self.entries.borrow();
        let conjugate = entries.get(key).filter(|conjugate| conjugate.is_open())?;
        conjugate.parts.iter().find(|part| part.class == class).cloned()
    }

    /// The part for `class`, which is the one at that place in the row of parts, when the conjugate of this word is not expired.
    #[inline]
    pub(crate) fn part_at(&self, word: u64, at: usize, class: ClassId) -> Option<PartPtr> {
        let entries = self.entries.borrow();
        let conjugate = entries.get(ConjugateKey::from_word(word)?).filter(|conjugate| conjugate.is_open())?;
        conjugate.parts.get(at).filter(|part| part.class == class).map(|part| part.ptr)
    }

    /// All parts of a conjugate, base first, be it expired or not.
    pub(crate) fn parts(&self, key: ConjugateKey) -> Parts {
        self.entries.borrow().get(key).map(|conjugate| conjugate.parts.clone()).unwrap_or_default()
    }

    /// Ends a red conjugate and hands its parts out, derived before base, for the finalizer thread. An unfinished
    /// one ends the same way.
    pub(crate) fn release(&self, key: ConjugateKey) -> Vec<Part> {
        let Some((color, life, parts)) = self.entries.borrow_mut().remove(key) else { return Vec::new() };
        debug_assert!(
            life == Life::Unbuilt || life.step(color, Event::Release) == Ok(Life::Dead),
            "the host releases what the host began"
        );
        parts
    }

    /// Ends every conjugate that lives with one of `modules`; parts by conjugate, derived before base.
    pub(crate) fn release_modules(&self, modules: &BTreeSet<ModuleId>) -> Vec<Vec<Part>> {
        let mut entries = self.entries.borrow_mut();
        let lives_with = |place: &PairSlot| place.gate.as_ref().is_some_and(|gate| modules.contains(&gate.tag().id));
        let concerned = entries.places.iter().zip(0..).filter(|(place, _)| lives_with(place));
        let keys: Vec<_> = concerned.map(|(place, index)| ConjugateKey { index, serial: place.serial }).collect();
        keys.into_iter().filter_map(|key| entries.remove(key)).map(|(_, _, parts)| parts).collect()
    }
}
