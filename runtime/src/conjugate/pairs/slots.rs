//! Memory of the conjugates. The slots are allocated in chunks. Empty chunks are freed after the end of a module.

use std::rc::Rc;

use super::{ConjugateKey, Part};
use crate::conjugate::class_hook_table::ClassHooks;
use crate::conjugate::life::{Color, Life};
use crate::handles::{ClassId, PartPtr, last_serial};

/// Slot for one plugin part: the most-derived part of a conjugate, or a part of a base class. A new conjugate is written field by field,
/// because moving a whole conjugate into the slot takes several times as long.
#[derive(Debug)]
pub(super) struct PairSlot {
    /// Class of the part. Set before the part is built. `None` if the slot is empty. Replacing a module also replaces its dependents. The
    /// module of a base class therefore stays loaded at least as long as the module of the most-derived class.
    pub of: Option<Rc<ClassHooks>>,
    ptr: PartPtr,
    /// Serial number of the current conjugate, or of the next conjugate if the slot is empty.
    pub serial: u32,
    /// Slot with the part of the next base class, or [`NO_SLOT`].
    base: u32,
    pub color: Color,
    /// State of the current conjugate. `Dead` if the slot is empty or contains a part of a base class. No key refers to a slot in this
    /// state.
    pub life: Life,
    is_built: bool,
}

// Limits the size of a slot, because each object has one slot per dynamic class. During a reload, the old part and the new part each have a
// slot.
const _: () = assert!(size_of::<PairSlot>() <= 32);

/// Marks the end of a list of base-class slots.
const NO_SLOT: u32 = u32::MAX;

/// Number of slots per chunk. An allocation of this size is large enough that the allocator returns the memory to the system.
pub(super) const CHUNK: usize = 4096;

/// Slots with consecutive indices.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Slots of the chunk. If all slots are empty after the end of a module, the memory of the slots is freed.
    pub slots: Vec<PairSlot>,
    /// First serial number for the slots if a freed chunk is used again.
    first_serial: u32,
}

#[derive(Debug)]
pub(super) struct PairSlots {
    pub chunks: Vec<Chunk>,
    /// Number of slots, including the slots of freed chunks.
    pub len: u32,
    /// Indices of the empty slots for reuse, except the slots of freed chunks.
    free: Vec<u32>,
    /// Indices of the freed chunks.
    freed: Vec<u32>,
    /// Largest serial number that a slot may assign.
    last_serial: u32,
}

impl Default for PairSlots {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0, free: Vec::new(), freed: Vec::new(), last_serial: last_serial() }
    }
}

impl PairSlot {
    fn empty(serial: u32) -> Self {
        let (of, ptr, color, life) = (None, PartPtr::NONE, Color::Red, Life::Dead);
        Self { of, ptr, serial, base: NO_SLOT, color, life, is_built: false }
    }

    fn is_of(&self, key: ConjugateKey) -> bool {
        self.serial == key.serial && self.life != Life::Dead
    }

    pub(super) fn is_open(&self) -> bool {
        self.of.as_ref().is_some_and(|of| of.gate.is_open())
    }

    pub(super) fn put(&mut self, part: Part) {
        (self.of, self.ptr, self.is_built) = (Some(part.of), part.ptr, true);
    }

    /// Sets the only part of a conjugate, which has the hooks that were passed to [`PairSlots::begin_red`]. Returns the class of the part.
    #[inline]
    pub(super) fn put_only(&mut self, ptr: PartPtr) -> Option<ClassId> {
        (self.ptr, self.is_built) = (ptr, true);
        self.of.as_ref().map(|of| of.class)
    }

    pub(super) fn part(&self) -> Option<(PartPtr, &Rc<ClassHooks>)> {
        Some((self.ptr, self.of.as_ref().filter(|_| self.is_built)?))
    }
}

impl PairSlots {
    #[inline]
    pub(super) fn at(&self, index: u32) -> Option<&PairSlot> {
        self.chunks.get(index as usize / CHUNK)?.slots.get(index as usize % CHUNK)
    }

    #[inline]
    fn at_mut(&mut self, index: u32) -> Option<&mut PairSlot> {
        self.chunks.get_mut(index as usize / CHUNK)?.slots.get_mut(index as usize % CHUNK)
    }

    #[inline]
    pub(super) fn get(&self, key: ConjugateKey) -> Option<&PairSlot> {
        self.at(key.index).filter(|slot| slot.is_of(key))
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: ConjugateKey) -> Option<&mut PairSlot> {
        self.at_mut(key.index).filter(|slot| slot.is_of(key))
    }

    /// Iterates over the parts of a conjugate, derived before base.
    #[inline]
    pub(super) fn parts<'a>(&'a self, conjugate: &'a PairSlot) -> impl Iterator<Item = (PartPtr, &'a Rc<ClassHooks>)> {
        let slots = std::iter::successors(Some(conjugate), move |slot| self.at(slot.base));
        slots.filter_map(PairSlot::part)
    }

    /// Returns the part for `class`. Returns `None` if the conjugate has expired.
    #[inline]
    pub(super) fn find(&self, key: ConjugateKey, class: ClassId) -> Option<(PartPtr, &Rc<ClassHooks>)> {
        let conjugate = self.get(key).filter(|conjugate| conjugate.is_open())?;
        self.parts(conjugate).find(|(_, of)| of.class == class)
    }

    #[inline]
    pub(super) fn begin_red(&mut self, hooks: &Rc<ClassHooks>) -> ConjugateKey {
        let (index, slot) = self.take();
        (slot.color, slot.life) = (Color::Red, Life::Unbuilt);
        slot.of = Some(Rc::clone(hooks));
        ConjugateKey { index, serial: slot.serial }
    }

    /// Returns an empty slot.
    #[inline]
    fn take(&mut self) -> (u32, &mut PairSlot) {
        let index = self.free.pop().unwrap_or_else(|| self.add());
        (index, &mut self.chunks[index as usize / CHUNK].slots[index as usize % CHUNK])
    }

    #[cold]
    fn add(&mut self) -> u32 {
        if let Some(freed) = self.freed.pop() {
            let Chunk { slots, first_serial } = &mut self.chunks[freed as usize];
            slots.resize_with(CHUNK, || PairSlot::empty(*first_serial));
            let index = freed * CHUNK as u32;
            self.free.extend((index + 1..index + CHUNK as u32).rev());
            return index;
        }
        let index = self.len;
        assert!(index < NO_SLOT, "fewer than four billion conjugates");
        if index as usize == self.chunks.len() * CHUNK {
            self.chunks.push(Chunk { slots: Vec::with_capacity(CHUNK), first_serial: 1 });
        }
        self.chunks[index as usize / CHUNK].slots.push(PairSlot::empty(1));
        self.len += 1;
        index
    }

    /// Adds a built part to a conjugate. Returns the part as an error if the conjugate has ended.
    pub(super) fn push(&mut self, key: ConjugateKey, part: Part) -> Result<(), Part> {
        match self.get_mut(key) {
            Some(slot) if slot.of.as_ref().is_some_and(|of| of.class == part.class) => slot.put(part),
            Some(slot) => {
                let next = slot.base;
                let (index, slot) = self.take();
                slot.put(part);
                slot.base = next;
                if let Some(conjugate) = self.get_mut(key) {
                    conjugate.base = index;
                }
            }
            None => return Err(part),
        }
        Ok(())
    }

    /// Ends a conjugate. Returns the previous state of the conjugate, and appends the parts of the conjugate to `ended`, derived before
    /// base. The slots are reused unless their serial numbers are exhausted.
    pub(super) fn remove(&mut self, key: ConjugateKey, ended: &mut impl Extend<Part>) -> Option<(Color, Life)> {
        let conjugate = self.get(key)?;
        let state = (conjugate.color, conjugate.life);
        let (mut next, last_serial) = (key.index, self.last_serial);
        while let Some(slot) = self.at_mut(next) {
            let serial = slot.serial;
            let PairSlot { of, ptr, base, is_built, .. } = std::mem::replace(slot, PairSlot::empty(serial));
            ended.extend(of.filter(|_| is_built).map(|of| Part { ptr, of }));
            if serial < last_serial {
                slot.serial += 1;
                self.free.push(next);
            }
            next = base;
        }
        Some(state)
    }

    /// Ends the conjugates whose most-derived class `is_ended` accepts, as [`PairSlots::remove`] does, in the order of their slots. Then
    /// frees the empty chunks.
    pub(super) fn remove_all(&mut self, is_ended: &impl Fn(&ClassHooks) -> bool, ended: &mut impl Extend<Part>) {
        for at in 0..self.chunks.len() {
            if self.clear(at, is_ended, ended) {
                continue;
            }
            let first = (at * CHUNK) as u32;
            for index in first..first + self.chunks[at].slots.len() as u32 {
                let Some(PairSlot { of: Some(of), serial, .. }) = self.at(index) else { continue };
                if is_ended(of) {
                    let key = ConjugateKey { index, serial: *serial };
                    // Has no effect if the slot contains the part of a base class, because no key refers to such a slot.
                    let _state = self.remove(key, ended);
                }
            }
        }
        self.trim();
    }

    /// Ends all conjugates of a chunk, and frees the chunk. After most reloads, all conjugates of most chunks end. Has no effect and
    /// returns `false` if `is_ended` rejects a conjugate, if a conjugate has several parts, or if the serial numbers of a slot are
    /// exhausted.
    fn clear(&mut self, at: usize, is_ended: &impl Fn(&ClassHooks) -> bool, ended: &mut impl Extend<Part>) -> bool {
        let (chunk, last_serial) = (&mut self.chunks[at], self.last_serial);
        let is_cleared = |slot: &PairSlot| match &slot.of {
            None => slot.serial < last_serial,
            Some(of) => {
                let is_alone = slot.life != Life::Dead && slot.base == NO_SLOT;
                is_alone && slot.serial < last_serial.saturating_sub(1) && is_ended(of)
            }
        };
        if chunk.slots.len() != CHUNK || !chunk.slots.iter().all(is_cleared) {
            return false;
        }
        for PairSlot { of, ptr, serial, is_built, .. } in std::mem::take(&mut chunk.slots) {
            chunk.first_serial = chunk.first_serial.max(serial + u32::from(of.is_some()));
            ended.extend(of.filter(|_| is_built).map(|of| Part { ptr, of }));
        }
        self.freed.push(at as u32);
        true
    }

    /// Frees the chunks whose slots are all empty. If the chunk is used again, the serial numbers of its slots begin after the largest
    /// serial number in the chunk.
    pub(super) fn trim(&mut self) {
        let last_serial = self.last_serial;
        let is_unused = |slot: &PairSlot| slot.of.is_none() && slot.serial < last_serial;
        for (at, chunk) in self.chunks.iter_mut().enumerate() {
            if chunk.slots.len() == CHUNK && chunk.slots.iter().all(is_unused) {
                chunk.first_serial = chunk.slots.iter().map(|slot| slot.serial).max().unwrap_or(1);
                chunk.slots = Vec::new();
                self.freed.push(at as u32);
            }
        }
        let Self { chunks, free, .. } = self;
        free.retain(|index| !chunks[*index as usize / CHUNK].slots.is_empty());
        free.shrink_to_fit();
    }
}
