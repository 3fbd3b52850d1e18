//! The map between objects and their plugin halves. `life.rs` says what may happen to a conjugate; this file owns
//! the entries. A conjugate of a generation that is not the live one is expired, whatever its own life says: that
//! is how a whole generation is set aside, and taken up again, at the cost of one word.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_abi::describe::PartHooks;
use slotmap::{Key, KeyData, SlotMap, new_key_type};

use crate::conjugate::gate::Gate;
use crate::conjugate::life::{Color, Event, Life, LifeError};
use crate::handles::{ClassId, Generation, PartPtr};

new_key_type! {
    /// A conjugate. Stale once it ended; never another one.
    pub struct ConjugateKey;
}

impl ConjugateKey {
    /// As the opaque word that the object store keeps beside an object; zero is none.
    pub(crate) fn to_word(self) -> u64 {
        self.data().as_ffi()
    }

    /// Back from the word.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        (word != 0).then(|| Self::from(KeyData::from_ffi(word)))
    }
}

/// One dynamic class's share of a plugin half.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The class it was built for.
    pub class: ClassId,
    /// The address only the module may follow.
    pub ptr: PartPtr,
    /// How to run its hooks.
    pub hooks: PartHooks,
    /// The door of the module that made it.
    pub gate: Rc<Gate>,
}

#[derive(Debug)]
struct Conjugate {
    color: Color,
    generation: Generation,
    life: Life,
    parts: Vec<Part>,
}

/// All pairs. Game thread only; no borrow is held while plugin code runs.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    entries: RefCell<SlotMap<ConjugateKey, Conjugate>>,
    live: Cell<Generation>,
    built: Cell<u64>,
}

impl Pairs {
    /// The generation whose conjugates are not expired.
    pub(crate) fn live_generation(&self) -> Generation {
        self.live.get()
    }

    /// Expires every conjugate of other generations at once; theirs are set aside, not dropped.
    pub(crate) fn set_live_generation(&self, generation: Generation) {
        self.live.set(generation);
    }

    /// Conjugates built since the start.
    pub(crate) fn built(&self) -> u64 {
        self.built.get()
    }

    /// Starts a red conjugate of the live generation; its parts are pushed base first.
    pub(crate) fn begin_red(&self) -> ConjugateKey {
        self.entries.borrow_mut().insert(Conjugate {
            color: Color::Red,
            generation: self.live.get(),
            life: Life::Unbuilt,
            parts: Vec::new(),
        })
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

    /// The conjugate is whole.
    ///
    /// # Errors
    /// When it was whole already, or is gone.
    pub(crate) fn finish(&self, key: ConjugateKey) -> Result<(), LifeError> {
        let mut entries = self.entries.borrow_mut();
        let Some(conjugate) = entries.get_mut(key) else {
            return Life::Dead.step(Color::Red, Event::Build).map(|_| ());
        };
        conjugate.life = conjugate.life.step(conjugate.color, Event::Build)?;
        self.built.set(self.built.get() + 1);
        Ok(())
    }

    /// Whether plugin code began it; none for an expired one.
    pub(crate) fn color(&self, key: ConjugateKey) -> Option<Color> {
        let entries = self.entries.borrow();
        entries.get(key).filter(|conjugate| conjugate.generation == self.live.get()).map(|conjugate| conjugate.color)
    }

    /// The part for `class`, when the conjugate is not expired. Parts that were pushed are found before the
    /// conjugate is whole: a derived red constructor may reach its base's part.
    pub(crate) fn part(&self, key: ConjugateKey, class: ClassId) -> Option<Part> {
        let entries = self.entries.borrow();
        let conjugate = entries.get(key).filter(|conjugate| conjugate.generation == self.live.get())?;
        conjugate.parts.iter().find(|part| part.class == class).cloned()
    }

    /// All parts of a conjugate, base first, whatever its generation.
    pub(crate) fn parts(&self, key: ConjugateKey) -> Vec<Part> {
        self.entries.borrow().get(key).map(|conjugate| conjugate.parts.clone()).unwrap_or_default()
    }

    /// Ends a red conjugate and hands its parts out, derived before base, for the finalizer thread. An unfinished
    /// one ends the same way.
    pub(crate) fn release(&self, key: ConjugateKey) -> Vec<Part> {
        let Some(conjugate) = self.entries.borrow_mut().remove(key) else { return Vec::new() };
        debug_assert!(
            conjugate.life == Life::Unbuilt || conjugate.life.step(conjugate.color, Event::Release) == Ok(Life::Dead),
            "the host releases what the host began"
        );
        conjugate.parts.into_iter().rev().collect()
    }

    /// Ends every conjugate of `generation`; parts by conjugate, derived before base.
    pub(crate) fn release_generation(&self, generation: Generation) -> Vec<Vec<Part>> {
        let mut entries = self.entries.borrow_mut();
        let keys: Vec<_> =
            entries.iter().filter(|(_, conjugate)| conjugate.generation == generation).map(|(key, _)| key).collect();
        keys.into_iter()
            .filter_map(|key| entries.remove(key))
            .map(|conjugate| conjugate.parts.into_iter().rev().collect())
            .collect()
    }
}
