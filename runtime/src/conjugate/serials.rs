//! Handles of conjugates without an object: owned values and borrowed values. A handle contains a slot index and a serial number, so a
//! stale handle never refers to a newer conjugate in its slot. A slot whose serial numbers are exhausted stays empty. All values that a
//! slot stores have one kind, so errors can report the kind of a stale handle.

use std::time::{Duration, Instant};

use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::kinds::PropertyKind;

use crate::handles::last_serial;

/// Kind and age of the conjugate of a handle, and a flag that is true while the conjugate exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    pub kind: PropertyKind,
    pub age: Age,
    pub lives: bool,
}

/// Age of a conjugate, live or ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Age {
    /// The age, or a lower bound of the age.
    pub at_least: Duration,
    /// False for an ended conjugate whose slot was reused.
    pub is_exact: bool,
}

/// Formats the age for errors, such as `3.2 s` or `more than 3.2 s`.
impl std::fmt::Display for Age {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = if self.is_exact { "" } else { "more than " };
        write!(f, "{bound}{:.1} s", self.at_least.as_secs_f64())
    }
}

#[derive(Debug)]
struct SerialSlot<T> {
    kind: PropertyKind,
    /// Number of values that the slot has stored, including the current value. Equals the serial number of the last value.
    assigned: u32,
    since: Instant,
    tenant: Option<T>,
}

#[derive(Debug)]
pub(crate) struct Serials<T> {
    slots: Vec<SerialSlot<T>>,
    /// Indices of the empty slots for reuse, by kind.
    free: Vec<Vec<u32>>,
    last_serial: u32,
    /// Offset that is added to the indexes in handles. Stores with different offsets assign different handles.
    base: u32,
}

impl<T> Default for Serials<T> {
    fn default() -> Self {
        Self::new(0, last_serial())
    }
}

impl<T> Serials<T> {
    /// Creates an empty store. The serial numbers of each slot range from 1 to `last_serial`.
    pub(crate) fn new(base: u32, last_serial: u32) -> Self {
        Self { slots: Vec::new(), free: Vec::new(), last_serial, base }
    }

    pub(crate) fn insert(&mut self, kind: PropertyKind, now: Instant, tenant: T) -> ConjugateHandle {
        if let Some(index) = self.free.get_mut(usize::from(kind.0)).and_then(Vec::pop) {
            let slot = &mut self.slots[index as usize];
            (slot.assigned, slot.since, slot.tenant) = (slot.assigned + 1, now, Some(tenant));
            return self.number(index, self.slots[index as usize].assigned);
        }
        let index = u32::try_from(self.slots.len()).ok().filter(|index| *index < u32::MAX / 2);
        let index = index.expect("fewer than two billion conjugates");
        self.slots.push(SerialSlot { kind, assigned: 1, since: now, tenant: Some(tenant) });
        self.number(index, 1)
    }

    /// Removes a value. The slot is reused unless its serial numbers are exhausted.
    pub(crate) fn remove(&mut self, handle: ConjugateHandle) -> Option<T> {
        let last_serial = self.last_serial;
        let (index, slot) = self.slot_mut(handle)?;
        let tenant = slot.tenant.take()?;
        let (kind, assigned) = (usize::from(slot.kind.0), slot.assigned);
        if assigned < last_serial {
            if self.free.len() <= kind {
                self.free.resize_with(kind + 1, Vec::new);
            }
            self.free[kind].push(index);
        }
        Some(tenant)
    }

    pub(crate) fn get(&self, handle: ConjugateHandle) -> Option<&T> {
        let (index, serial) = self.split(handle)?;
        let slot = self.slots.get(index as usize).filter(|slot| slot.assigned == serial)?;
        slot.tenant.as_ref()
    }

    pub(crate) fn get_mut(&mut self, handle: ConjugateHandle) -> Option<&mut T> {
        self.slot_mut(handle)?.1.tenant.as_mut()
    }

    /// Returns kind and age of the conjugate of a handle. Returns `None` for a handle that was never assigned.
    pub(crate) fn facts(&self, handle: ConjugateHandle, now: Instant) -> Option<Facts> {
        let (index, serial) = self.split(handle)?;
        let slot = self.slots.get(index as usize).filter(|slot| (1..=slot.assigned).contains(&serial))?;
        let since = now.saturating_duration_since(slot.since);
        let age = Age { at_least: since, is_exact: serial == slot.assigned };
        Some(Facts { kind: slot.kind, age, lives: serial == slot.assigned && slot.tenant.is_some() })
    }

    /// Iterates over the values and their handles, in slot order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConjugateHandle, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let number = self.number(index as u32, slot.assigned);
            Some((number, slot.tenant.as_ref()?))
        })
    }

    fn slot_mut(&mut self, handle: ConjugateHandle) -> Option<(u32, &mut SerialSlot<T>)> {
        let (index, serial) = self.split(handle)?;
        let slot = self.slots.get_mut(index as usize).filter(|slot| slot.assigned == serial)?;
        Some((index, slot))
    }

    fn number(&self, index: u32, serial: u32) -> ConjugateHandle {
        ConjugateHandle(u64::from(serial) << 32 | u64::from(index + self.base))
    }

    /// Splits a handle of this store into index and serial number.
    fn split(&self, handle: ConjugateHandle) -> Option<(u32, u32)> {
        let index = (handle.0 as u32).checked_sub(self.base)?;
        Some((index, (handle.0 >> 32) as u32))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    use alcedo_abi::handles::ConjugateHandle;
    use alcedo_abi::kinds::PropertyKind;

    use super::{Facts, Serials};

    const ARRAY: PropertyKind = PropertyKind::ARRAY;

    #[test]
    fn a_stale_number_still_has_its_kind_and_age() {
        let (begun, second) = (Instant::now(), Duration::from_secs(1));
        let mut serials = Serials::new(0, u32::MAX);
        let first = serials.insert(ARRAY, begun, 'a');
        let facts = |serials: &Serials<char>, handle, at: u32| {
            let found: Option<Facts> = serials.facts(handle, begun + at * second);
            found.map(|Facts { kind, age, lives }| (kind, age.to_string(), lives))
        };
        assert_eq!(facts(&serials, first, 2), Some((ARRAY, "2.0 s".to_owned(), true)));
        assert_eq!(serials.remove(first), Some('a'));
        assert_eq!(facts(&serials, first, 3), Some((ARRAY, "3.0 s".to_owned(), false)));
        let other_kind = serials.insert(PropertyKind::MAP, begun, 'b');
        let next = serials.insert(ARRAY, begun + 4 * second, 'c');
        assert_ne!(other_kind.0 as u32, next.0 as u32);
        assert_eq!(next.0 as u32, first.0 as u32, "the slot has a new tenant");
        assert_eq!(facts(&serials, first, 5), Some((ARRAY, "more than 1.0 s".to_owned(), false)));
        assert_eq!(facts(&serials, ConjugateHandle(next.0 + (1 << 32)), 5), None, "not assigned yet");
        assert_eq!(facts(&serials, ConjugateHandle::NONE, 5), None);
        assert_eq!((serials.get(first), serials.get(next)), (None, Some(&'c')));
    }

    #[test]
    fn two_stores_never_return_equal_serials() {
        let now = Instant::now();
        let (mut low, mut high) = (Serials::new(0, u32::MAX), Serials::new(1 << 31, u32::MAX));
        let (one, two) = (low.insert(ARRAY, now, 1), high.insert(ARRAY, now, 2));
        assert_ne!(one, two);
        assert_eq!((low.get(two), high.get(one)), (None, None));
        assert_eq!((low.facts(two, now), high.facts(one, now)), (None, None));
    }

    #[test]
    fn a_slot_has_no_more_tenants_than_serials() {
        let now = Instant::now();
        let mut serials = Serials::new(0, 3);
        let slots: Vec<_> = (0..7)
            .map(|tenant| {
                let handle = serials.insert(ARRAY, now, tenant);
                assert_eq!(serials.remove(handle), Some(tenant));
                (handle.0 as u32, handle.0 >> 32)
            })
            .collect();
        assert_eq!(slots, [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 1)]);
    }

    #[test]
    fn with_eight_bits_of_serial_a_million_tenants_have_a_million_numbers() {
        let now = Instant::now();
        let mut serials = Serials::new(0, u32::from(u8::MAX));
        let mut assigned = HashSet::new();
        let mut living = Vec::new();
        for tenant in 0..1_000_000_u32 {
            let handle = serials.insert(ARRAY, now, tenant);
            assert!(assigned.insert(handle), "{handle:?} again");
            living.push((handle, tenant));
            // Keeps about a hundred values alive. The removed value is not always the oldest value.
            if living.len() > 100 {
                let (handle, tenant) = living.swap_remove(tenant as usize * 7 % 100);
                assert_eq!(serials.remove(handle), Some(tenant));
            }
        }
        let stale = assigned.iter().filter(|handle| serials.get(**handle).is_none()).count();
        assert_eq!(stale, assigned.len() - living.len());
        assert!(living.iter().all(|(handle, tenant)| serials.get(*handle) == Some(tenant)));
    }
}
