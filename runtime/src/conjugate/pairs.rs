//! Map between objects and their plugin parts. `life.rs` defines the state transitions. This file stores the conjugates. In any state, a
//! conjugate is expired while its module accepts no calls. Closing the gate of a module therefore suspends all its conjugates.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use smallvec::SmallVec;

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::conjugate::class_hook_table::ClassHooks;
use crate::conjugate::gate::Gate;
use crate::conjugate::life::{Color, Event, Life, LifeError};
use crate::handles::{ClassId, ModuleId, ObjectHandle, PartPtr, last_serial};
use crate::object::hot_columns::PluginPart;
use crate::object::objects::Objects;

/// Key of a conjugate. After the end of the conjugate, the key is stale. Keys are never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConjugateKey {
    index: u32,
    /// Serial numbers begin at 1, so no key is converted to zero.
    serial: u32,
}

impl ConjugateKey {
    /// Converts the key to the number that the object store keeps for each object. Zero means that the object has no conjugate.
    pub(crate) fn to_word(self) -> u64 {
        u64::from(self.serial) << 32 | u64::from(self.index)
    }

    /// Converts the stored number to a key.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        (word != 0).then_some(Self { index: word as u32, serial: (word >> 32) as u32 })
    }
}

/// Plugin part of an object for one dynamic class. All parts of a class share the class data: id, hooks and gate.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Address that only the module may dereference.
    pub ptr: PartPtr,
    /// Class data.
    pub of: Rc<ClassHooks>,
}

impl Deref for Part {
    type Target = ClassHooks;

    fn deref(&self) -> &ClassHooks {
        &self.of
    }
}

/// Parts of one conjugate. Objects with more than two dynamic classes are rare, so few conjugates need a separate allocation.
type Parts = SmallVec<[Part; 2]>;

/// Slot that stores one conjugate at a time. A new conjugate is written field by field, because moving a whole conjugate into the slot
/// takes several times as long.
#[derive(Debug)]
struct PairSlot {
    /// Serial number of the current conjugate, or of the next conjugate if the slot is empty.
    serial: u32,
    color: Color,
    /// State of the current conjugate; `Dead` if the slot is empty.
    life: Life,
    /// Gate of the module of the most-derived class. The module of a base class stays loaded at least as long as this module, because
    /// replacing a module also replaces its dependents.
    gate: Option<Rc<Gate>>,
    parts: Parts,
}

#[derive(Debug)]
struct PairSlots {
    slots: Vec<PairSlot>,
    free: Vec<u32>,
    /// Largest serial number that a slot may assign.
    last_serial: u32,
}

impl Default for PairSlots {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), last_serial: last_serial() }
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
        self.slots.get(key.index as usize).filter(|slot| slot.is_of(key))
    }

    #[inline]
    fn get_mut(&mut self, key: ConjugateKey) -> Option<&mut PairSlot> {
        self.slots.get_mut(key.index as usize).filter(|slot| slot.is_of(key))
    }

    #[inline]
    fn begin_red(&mut self, gate: &Rc<Gate>) -> ConjugateKey {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.add(),
        };
        let slot = &mut self.slots[index as usize];
        (slot.color, slot.life) = (Color::Red, Life::Unbuilt);
        slot.gate = Some(Rc::clone(gate));
        ConjugateKey { index, serial: slot.serial }
    }

    #[cold]
    fn add(&mut self) -> u32 {
        let index = u32::try_from(self.slots.len()).expect("fewer than four billion conjugates");
        self.slots.push(PairSlot { serial: 1, color: Color::Red, life: Life::Dead, gate: None, parts: Parts::new() });
        index
    }

    /// Ends a conjugate. Returns its previous state, and appends its parts to `ended`, derived before base. The slot is reused unless its
    /// serial numbers are exhausted.
    fn remove(&mut self, key: ConjugateKey, ended: &mut Vec<Part>) -> Option<(Color, Life)> {
        let last_serial = self.last_serial;
        let slot = self.get_mut(key)?;
        let life = std::mem::replace(&mut slot.life, Life::Dead);
        slot.gate = None;
        let color = slot.color;
        ended.extend(slot.parts.drain(..).rev());
        if slot.serial < last_serial {
            slot.serial += 1;
            self.free.push(key.index);
        }
        Some((color, life))
    }
}

/// Builds the plugin part of an object, unless the object already has a part.
pub(crate) type BuildLate = dyn Fn(ObjectHandle) -> Result<(), CallError>;

/// All conjugates of objects. Game thread only; no borrow is held while plugin code runs.
#[derive(Default)]
pub(crate) struct Pairs {
    entries: RefCell<PairSlots>,
    built: Cell<u64>,
    /// Builds missing plugin parts. Only set during a rebuild.
    late: RefCell<Option<Rc<BuildLate>>>,
}

/// Guard of a rebuild. While the guard exists, a call of an object without a plugin part first builds the part.
pub(crate) struct LateParts<'a>(&'a Pairs);

impl Drop for LateParts<'_> {
    fn drop(&mut self) {
        let _it = self.0.late.take();
    }
}

impl Pairs {
    /// Returns the number of conjugates that were built since the start.
    pub(crate) fn built(&self) -> u64 {
        self.built.get()
    }

    /// Creates a red conjugate of the module with this gate. The caller then adds the parts, base first. Returns the data to store in the
    /// object.
    #[inline(always)]
    pub(crate) fn begin_red(&self, gate: &Rc<Gate>) -> (ConjugateKey, PluginPart) {
        let key = self.entries.borrow_mut().begin_red(gate);
        (key, PluginPart::of(key.to_word()))
    }

    /// Adds the part for the next dynamic class of the object. Returns the part as an error if the conjugate has ended. A red constructor
    /// can end the conjugate by destroying the object under construction.
    pub(crate) fn push_part(&self, key: ConjugateKey, part: Part) -> Result<(), Part> {
        match self.entries.borrow_mut().get_mut(key) {
            Some(conjugate) => {
                conjugate.parts.push(part);
                Ok(())
            }
            None => Err(part),
        }
    }

    /// Completes the conjugate. Returns `plugin_part` with the most-derived part. The caller stores the result in the object. Returns an
    /// error if the conjugate is already complete or has ended.
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

    /// Completes the conjugate with its only part. Returns the data to store in the object. Returns the part as an error if the conjugate
    /// has ended. A red constructor can end the conjugate by destroying the object under construction.
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

    /// Returns the part of a live object for `class`. The part of the most-derived class is stored in the object itself. Also finds the
    /// part of an expired conjugate: the caller must enter the gate, which checks this.
    #[inline]
    pub(crate) fn find_part(&self, objects: &Objects, object: ObjectHandle, class: ClassId) -> Option<PartPtr> {
        match objects.part(object, class) {
            Some(part) => Some(PartPtr(part)),
            None => self.part_of(objects, object, class).map(|part| part.ptr),
        }
    }

    /// Starts a rebuild: until the guard is dropped, a call of an object without a plugin part first calls `build`.
    pub(crate) fn build_late(&self, build: Rc<BuildLate>) -> LateParts<'_> {
        *self.late.borrow_mut() = Some(build);
        LateParts(self)
    }

    /// Builds the missing part of an object during a rebuild. Returns the error of the red constructor.
    #[cold]
    pub(crate) fn late(&self, object: ObjectHandle) -> Result<(), CallError> {
        let build = self.late.borrow().clone();
        build.map_or(Ok(()), |build| build(object))
    }

    /// Returns the part of a live object for `class`. Returns `None` if the conjugate has expired.
    #[cold]
    pub(crate) fn part_of(&self, objects: &Objects, object: ObjectHandle, class: ClassId) -> Option<Part> {
        self.part(ConjugateKey::from_word(objects.conjugate(object)?)?, class)
    }

    /// Returns the color of a conjugate. Returns `None` if the conjugate has expired.
    pub(crate) fn color(&self, key: ConjugateKey) -> Option<Color> {
        let entries = self.entries.borrow();
        entries.get(key).filter(|conjugate| conjugate.is_open()).map(|conjugate| conjugate.color)
    }

    /// Returns the part for `class`. Returns `None` if the conjugate has expired. Also finds a part of an incomplete conjugate: the red
    /// constructor of a derived class may access the part of the base class.
    pub(crate) fn part(&self, key: ConjugateKey, class: ClassId) -> Option<Part> {
        let entries = self.entries.borrow();
        let conjugate = entries.get(key).filter(|conjugate| conjugate.is_open())?;
        conjugate.parts.iter().find(|part| part.class == class).cloned()
    }

    /// Returns the part at index `at` if it belongs to `class`. Returns `None` if the conjugate with the key `word` has expired.
    #[inline]
    pub(crate) fn part_at(&self, word: u64, at: usize, class: ClassId) -> Option<PartPtr> {
        let entries = self.entries.borrow();
        let conjugate = entries.get(ConjugateKey::from_word(word)?).filter(|conjugate| conjugate.is_open())?;
        conjugate.parts.get(at).filter(|part| part.class == class).map(|part| part.ptr)
    }

    /// Returns all parts of a conjugate, base first, even if the conjugate has expired.
    pub(crate) fn parts(&self, key: ConjugateKey) -> Parts {
        self.entries.borrow().get(key).map(|conjugate| conjugate.parts.clone()).unwrap_or_default()
    }

    /// Ends a complete or incomplete red conjugate. Returns its parts for the finalizer thread, derived before base.
    pub(crate) fn release(&self, key: ConjugateKey) -> Vec<Part> {
        let mut parts = Vec::new();
        let ended = self.entries.borrow_mut().remove(key, &mut parts);
        debug_assert!(
            ended.is_none_or(|(color, life)| {
                life == Life::Unbuilt || life.step(color, Event::Release) == Ok(Life::Dead)
            }),
            "the host releases what the host began"
        );
        parts
    }

    /// Ends all conjugates of these modules. Returns the parts of the conjugates. The parts of each conjugate are ordered from derived to
    /// base.
    pub(crate) fn release_modules(&self, modules: &BTreeSet<ModuleId>) -> Vec<Part> {
        let mut entries = self.entries.borrow_mut();
        let mut ended = Vec::new();
        for index in 0..entries.slots.len() {
            let PairSlot { serial, gate, .. } = &entries.slots[index];
            if gate.as_ref().is_some_and(|gate| modules.contains(&gate.tag().id)) {
                let key = ConjugateKey { index: index as u32, serial: *serial };
                let _state = entries.remove(key, &mut ended);
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::Pairs;
    use crate::conjugate::gate::{Gate, ModuleTag};
    use crate::conjugate::life::Color;
    use crate::handles::{Generation, ModuleId};

    #[test]
    fn a_key_is_stale_when_its_slot_has_another_conjugate() {
        let gate = Gate::new(ModuleTag { id: ModuleId(1), name: "m".into(), generation: Generation(1) });
        let pairs = Pairs::default();
        let (first, _) = pairs.begin_red(&gate);
        assert_eq!(pairs.color(first), Some(Color::Red));
        assert!(pairs.release(first).is_empty(), "no part was built");
        let (second, _) = pairs.begin_red(&gate);
        assert_eq!(second.index, first.index);
        assert_eq!((pairs.color(first), pairs.color(second)), (None, Some(Color::Red)));
    }
}
