//! Map between objects and their plugin parts. `life.rs` defines the state transitions, and `pairs/slots.rs` stores the conjugates. In
//! every state, a conjugate is expired while the gate of its module is closed. Closing the gate therefore suspends all conjugates of the
//! module.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use smallvec::SmallVec;

use crate::boundary::CallError;
use crate::cells::RefCell;
use crate::conjugate::class_hook_table::ClassHooks;
use crate::conjugate::life::{Color, Event, Life, LifeError};
use crate::conjugate::named_fields::NamedFields;
use crate::handles::{ClassId, ModuleId, ObjectHandle, PartPtr};
use crate::object::dormant::KeptField;
use crate::object::hot_columns::PluginPart;
use crate::object::objects::Objects;

use self::slots::PairSlots;

mod slots;

/// Key of a conjugate. The key becomes stale when the conjugate ends. Keys are never reused.
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
    /// Address of the part. Only the module may dereference this address.
    pub ptr: PartPtr,
    /// Id, hooks and gate of the class.
    pub of: Rc<ClassHooks>,
}

impl Deref for Part {
    type Target = ClassHooks;

    fn deref(&self) -> &ClassHooks {
        &self.of
    }
}

/// Parts of one conjugate, base first.
type Parts = SmallVec<[Part; 2]>;

/// Builds the plugin part of an object, unless the object already has a part.
pub(crate) type BuildLate = dyn Fn(ObjectHandle) -> Result<(), CallError>;

/// All conjugates of objects. Game thread only; no borrow is held while plugin code runs.
#[derive(Default)]
pub(crate) struct Pairs {
    entries: RefCell<PairSlots>,
    built: Cell<u64>,
    /// Builds missing plugin parts. Only set during a rebuild.
    late: RefCell<Option<Rc<BuildLate>>>,
    /// Kept fields of objects whose class is rebuilt lazily and whose part is not yet built.
    unbuilt: RefCell<NamedFields>,
}

/// Guard of a rebuild. While the guard exists, a call on an object without a plugin part first builds the part.
pub(crate) struct LateParts<'a>(&'a Pairs);

impl Drop for LateParts<'_> {
    fn drop(&mut self) {
        let _it = self.0.late.take();
    }
}

impl Pairs {
    /// Returns the number of conjugates that were built since the runtime was built.
    pub(crate) fn built(&self) -> u64 {
        self.built.get()
    }

    /// Creates a red conjugate whose most-derived class has these hooks. The caller then adds the parts, base first. Returns the data to
    /// store in the object.
    #[inline(always)]
    pub(crate) fn begin_red(&self, hooks: &Rc<ClassHooks>) -> (ConjugateKey, PluginPart) {
        let key = self.entries.borrow_mut().begin_red(hooks);
        (key, PluginPart::of(key.to_word()))
    }

    /// Adds the part for the next dynamic class of the object. Returns the part as an error if the conjugate has ended. A red constructor
    /// can end the conjugate by destroying the object under construction.
    pub(crate) fn push_part(&self, key: ConjugateKey, part: Part) -> Result<(), Part> {
        self.entries.borrow_mut().push(key, part)
    }

    /// Completes the conjugate, and returns `plugin_part` with the address of the most-derived part. The caller stores the result in the
    /// object. Returns an error if the conjugate is already complete or has ended.
    pub(crate) fn finish(&self, key: ConjugateKey, plugin_part: PluginPart) -> Result<PluginPart, LifeError> {
        let mut entries = self.entries.borrow_mut();
        let Some(conjugate) = entries.get_mut(key) else {
            return Life::Dead.step(Color::Red, Event::Build).map(|_| plugin_part);
        };
        conjugate.life = conjugate.life.step(conjugate.color, Event::Build)?;
        self.built.set(self.built.get() + 1);
        Ok(conjugate.part().map_or(plugin_part, |(ptr, of)| plugin_part.with_part(ptr.0, of.class)))
    }

    /// Completes the conjugate with its only part, which has the hooks that were passed to [`Pairs::begin_red`]. Returns the data to store
    /// in the object. Returns `None` if the conjugate has ended. A red constructor can end the conjugate by destroying the object under
    /// construction.
    #[inline(always)]
    pub(crate) fn finish_with(&self, key: ConjugateKey, ptr: PartPtr, plugin_part: PluginPart) -> Option<PluginPart> {
        let mut entries = self.entries.borrow_mut();
        let conjugate = entries.get_mut(key)?;
        conjugate.life = conjugate.life.step(conjugate.color, Event::Build).ok()?;
        let class = conjugate.put_only(ptr)?;
        self.built.set(self.built.get() + 1);
        Some(plugin_part.with_part(ptr.0, class))
    }

    /// Returns the part of a live object for `class`. The part of the most-derived class is stored in the object itself. Also finds the
    /// part of an expired conjugate. The caller must enter the gate, which then rejects the call.
    #[inline]
    pub(crate) fn find_part(&self, objects: &Objects, object: ObjectHandle, class: ClassId) -> Option<PartPtr> {
        match objects.part(object, class) {
            Some(part) => Some(PartPtr(part)),
            None => self.part_of(objects, object, class).map(|part| part.ptr),
        }
    }

    /// Starts a rebuild: until the guard is dropped, a call on an object without a plugin part first calls `build`.
    pub(crate) fn build_late(&self, build: Rc<BuildLate>) -> LateParts<'_> {
        *self.late.borrow_mut() = Some(build);
        LateParts(self)
    }

    /// Returns the function that builds missing parts during a rebuild. Returns `None` if no rebuild is in progress. The function returns
    /// the error of the red constructor. If the kept fields cannot be restored, the function returns an error and builds no part.
    pub(crate) fn late(&self) -> Option<Rc<BuildLate>> {
        self.late.borrow().clone()
    }

    /// Checks if the kept fields of a part that is not yet built exist.
    #[inline]
    pub(crate) fn has_unbuilt(&self) -> bool {
        !self.unbuilt.borrow().is_empty()
    }

    /// Returns a copy of the kept fields of a part that is not yet built.
    pub(crate) fn unbuilt(&self, object: ObjectHandle) -> Vec<KeptField> {
        self.unbuilt.borrow().get(object).to_vec()
    }

    /// Removes and returns the kept fields of a part that is not yet built.
    pub(crate) fn take_unbuilt(&self, object: ObjectHandle) -> Vec<KeptField> {
        self.unbuilt.borrow_mut().take(object)
    }

    /// Adds the fields of parts that a committed reload has put off. Drops the fields of objects that have a conjugate now or are
    /// destroyed.
    pub(crate) fn settle_unbuilt(&self, put_off: NamedFields, objects: &Objects) {
        let mut unbuilt = self.unbuilt.borrow_mut();
        unbuilt.merge(put_off);
        unbuilt.retain(|object| objects.conjugate(object) == Some(0));
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

    /// Returns the part for `class`. Returns `None` if the conjugate has expired. Also finds a part of an incomplete conjugate, because the
    /// red constructor of a derived class may access the part of the base class.
    pub(crate) fn part(&self, key: ConjugateKey, class: ClassId) -> Option<Part> {
        self.entries.borrow().find(key, class).map(|(ptr, of)| Part { ptr, of: Rc::clone(of) })
    }

    /// Returns the address of the part for `class`. Returns `None` if the conjugate with the key `word` has expired.
    #[inline]
    pub(crate) fn address(&self, word: u64, class: ClassId) -> Option<PartPtr> {
        self.entries.borrow().find(ConjugateKey::from_word(word)?, class).map(|(ptr, _)| ptr)
    }

    /// Returns all parts of a conjugate, base first, even if the conjugate has expired.
    pub(crate) fn parts(&self, key: ConjugateKey) -> Parts {
        let entries = self.entries.borrow();
        let Some(conjugate) = entries.get(key) else { return Parts::new() };
        let parts = entries.parts(conjugate).map(|(ptr, of)| Part { ptr, of: Rc::clone(of) });
        let mut parts: Parts = parts.collect();
        parts.reverse();
        parts
    }

    /// Ends a complete or incomplete red conjugate, and appends the parts of the conjugate to `ended`, derived before base. `ended` must not
    /// use the conjugates.
    pub(crate) fn release(&self, key: ConjugateKey, ended: &mut impl Extend<Part>) {
        let state = self.entries.borrow_mut().remove(key, ended);
        debug_assert!(
            state.is_none_or(|(color, life)| {
                life == Life::Unbuilt || life.step(color, Event::Release) == Ok(Life::Dead)
            }),
            "the host releases what the host began"
        );
    }

    /// Ends all conjugates of these modules, and appends the parts of the conjugates to `ended`. The parts of each conjugate are ordered from
    /// derived to base. `ended` must not use the conjugates.
    pub(crate) fn release_modules(&self, modules: &BTreeSet<ModuleId>, ended: &mut impl Extend<Part>) {
        // Latest checked class with its result. Adjacent conjugates mostly share a class.
        let latest = Cell::new((ClassId::NONE, false));
        let is_ended = |of: &ClassHooks| {
            if latest.get().0 != of.class {
                latest.set((of.class, modules.contains(&of.gate.tag().id)));
            }
            latest.get().1
        };
        self.entries.borrow_mut().remove_all(&is_ended, ended);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ptr::without_provenance_mut;
    use std::rc::Rc;

    use super::slots::CHUNK;
    use super::{ConjugateKey, Pairs, Part};
    use crate::conjugate::class_hook_table::ClassHooks;
    use crate::conjugate::gate::{Gate, ModuleTag};
    use crate::conjugate::life::Color;
    use crate::handles::{ClassId, Generation, ModuleId, PartPtr};

    fn hooks(module: u64, class: u32) -> Rc<ClassHooks> {
        let tag = ModuleTag { id: ModuleId(module), name: "m".into(), generation: Generation(1) };
        Rc::new(ClassHooks::for_tests(ClassId(class), Gate::new(tag)))
    }

    fn part(of: &Rc<ClassHooks>, address: usize) -> Part {
        Part { ptr: PartPtr(without_provenance_mut(address)), of: Rc::clone(of) }
    }

    fn released(pairs: &Pairs, key: ConjugateKey) -> Vec<usize> {
        let mut ended = Vec::new();
        pairs.release(key, &mut ended);
        addresses(&ended)
    }

    fn addresses(parts: &[Part]) -> Vec<usize> {
        parts.iter().map(|part| part.ptr.0.addr()).collect()
    }

    #[test]
    fn a_key_is_stale_when_its_slot_has_another_conjugate() {
        let (hooks, pairs) = (hooks(1, 1), Pairs::default());
        let (first, _) = pairs.begin_red(&hooks);
        assert_eq!(pairs.color(first), Some(Color::Red));
        assert!(released(&pairs, first).is_empty(), "no part was built");
        let (second, _) = pairs.begin_red(&hooks);
        assert_eq!(second.index, first.index);
        assert_eq!((pairs.color(first), pairs.color(second)), (None, Some(Color::Red)));
    }

    #[test]
    fn a_conjugate_has_a_part_for_each_class_and_ends_derived_before_base() {
        let pairs = Pairs::default();
        let [root, base, derived] = [1, 2, 3].map(|class| hooks(1, class));
        let (key, stored) = pairs.begin_red(&derived);
        assert!(pairs.parts(key).is_empty() && pairs.part(key, ClassId(3)).is_none());
        for (at, of) in [&root, &base, &derived].into_iter().enumerate() {
            pairs.push_part(key, part(of, at + 1)).expect("the conjugate has not ended");
            assert_eq!(addresses(&pairs.parts(key)), (1..=at + 1).collect::<Vec<_>>(), "base first");
        }
        let stored = pairs.finish(key, stored).expect("it was not built before");
        for (class, expected) in [(1, Some(1)), (2, Some(2)), (3, Some(3)), (4, None)] {
            assert_eq!(pairs.part(key, ClassId(class)).map(|part| part.ptr.0.addr()), expected);
            assert_eq!(pairs.address(stored.word, ClassId(class)).map(|part| part.0.addr()), expected);
        }
        assert_eq!(released(&pairs, key), [3, 2, 1]);
        let reused: Vec<_> = (0..3).map(|_| pairs.begin_red(&root).0.index).collect();
        assert_eq!(BTreeSet::from_iter(reused), BTreeSet::from([0, 1, 2]));
        assert_eq!(pairs.push_part(key, part(&root, 4)).map_err(|part| part.ptr.0.addr()), Err(4));
    }

    #[test]
    fn conjugates_with_several_parts_end_with_their_module_derived_before_base() {
        let pairs = Pairs::default();
        let [base, derived, other] = [(1, 1), (1, 2), (2, 3)].map(|(module, class)| hooks(module, class));
        let build = |of: &[&Rc<ClassHooks>], first: usize| {
            let (key, stored) = pairs.begin_red(of[of.len() - 1]);
            for (at, of) in of.iter().enumerate() {
                pairs.push_part(key, part(of, first + at)).expect("the conjugate has not ended");
            }
            pairs.finish(key, stored).expect("it was not built before");
            key
        };
        // The first chunk has only conjugates with two parts, and the second chunk has a conjugate of another module.
        let double: Vec<_> = (0..CHUNK / 2).map(|at| build(&[&base, &derived], 2 * at + 1)).collect();
        let kept = build(&[&other], 1);
        let single: Vec<_> = (1..CHUNK).map(|at| build(&[&base], CHUNK + at)).collect();
        let mut ended = Vec::new();
        pairs.release_modules(&BTreeSet::from([ModuleId(1)]), &mut ended);
        let expected = (0..CHUNK / 2).flat_map(|at| [2 * at + 2, 2 * at + 1]).chain((1..CHUNK).map(|at| CHUNK + at));
        assert_eq!(addresses(&ended), expected.collect::<Vec<_>>());
        assert!(double.iter().chain(&single).all(|key| pairs.color(*key).is_none()));
        assert_eq!(pairs.color(kept), Some(Color::Red));
        assert_eq!(pairs.entries.borrow().chunks.iter().filter(|chunk| !chunk.slots.is_empty()).count(), 1);
    }

    #[test]
    fn chunks_of_an_ended_module_are_freed_and_their_keys_never_return() {
        let (pairs, old, new) = (Pairs::default(), hooks(1, 1), hooks(2, 2));
        let build = |of: &Rc<ClassHooks>| -> Vec<ConjugateKey> {
            let build = |at: usize| {
                let (key, stored) = pairs.begin_red(of);
                pairs.finish_with(key, part(of, at).ptr, stored).expect("the conjugate has not ended");
                key
            };
            (0..2 * CHUNK).map(build).collect()
        };
        let (before, after) = (build(&old), build(&new));
        let chunks = || pairs.entries.borrow().chunks.iter().filter(|chunk| !chunk.slots.is_empty()).count();
        assert_eq!(chunks(), 4);
        let mut ended = Vec::new();
        pairs.release_modules(&BTreeSet::from([ModuleId(1)]), &mut ended);
        assert_eq!(ended.len(), 2 * CHUNK);
        assert_eq!(chunks(), 2);
        assert!(after.iter().all(|key| pairs.color(*key).is_some()));
        let again = build(&old);
        assert_eq!((chunks(), pairs.entries.borrow().len as usize), (4, 4 * CHUNK));
        assert!(before.iter().all(|key| pairs.color(*key).is_none()));
        assert!(again.iter().all(|key| key.serial > 1 && pairs.color(*key).is_some()));
    }
}
