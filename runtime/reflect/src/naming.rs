//! Names of objects. An object without an explicit name receives a generated name. Generated names are unique among live objects. A
//! generated name consists of the class name and a number, such as `MagicCube_17`. The text of a generated name is created on demand. After
//! the destruction of the object, the number of its generated name is reused. This limits the number of interned names in a host that
//! spawns objects continuously. An object that a load creates claims the generated name under which it was saved, if possible.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use alcedo_abi::names::shows_itself;
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::class::Class;
use crate::names::{Names, PartName, split_generated};
use crate::near_hash::NearMap;

/// Prefix of the names of class default objects. Other objects without an outer must not have a name with this prefix.
pub const DEFAULT_PREFIX: &str = "Default__";

/// Maximum length of a name in bytes.
const MAX_NAME_LEN: usize = 1024;

/// Returns the reason for the rejection of `name`. Returns `None` for an allowed name. `has_no_outer` is true for objects without an outer.
///
/// # Examples
/// ```
/// use alcedo_reflect::naming::name_problem;
///
/// assert_eq!(name_problem("Lamp_3", true), None);
/// assert!(name_problem("", true).is_some());
/// assert!(name_problem("Default__Lamp", true).is_some());
/// ```
pub fn name_problem(name: &str, has_no_outer: bool) -> Option<&'static str> {
    match name {
        "" => Some("a name has one character at least"),
        long if long.len() > MAX_NAME_LEN => Some("a name has at most 1024 bytes"),
        // Most names are ASCII, whose bytes need no decoding. A load checks the name of each object.
        hidden if !hidden.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !hidden.chars().all(shows_itself) => {
            Some("a name has neither control characters nor invisible characters")
        }
        default if has_no_outer && default.starts_with(DEFAULT_PREFIX) => {
            Some("names that begin with Default__ belong to class default objects")
        }
        _ => None,
    }
}

/// Name of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    /// Explicit name.
    Explicit(Name),
    /// Name of a default subobject. Only the owner of the subobject lists this name.
    Part(Name),
    Made(GeneratedName),
}

/// Generated name without its text: the index of a class name's series, and a number. Remains valid after its object is renamed or
/// destroyed. Belongs to one store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratedName {
    series: u32,
    number: u32,
}

/// Names of the objects of a store.
#[derive(Debug, Default)]
pub(super) struct Naming {
    series: Vec<Series>,
    by_text: FxHashMap<Rc<str>, u32>,
    /// Latest series that was looked up by text. Adjacent names of a load mostly belong to one series.
    latest: u32,
    /// Series of recently used classes, indexed by the class id modulo `CACHE_SIZE`. Allocated at the first use.
    by_class: Box<[(ClassId, u32)]>,
    /// Objects with an explicit name, by outer and name.
    explicit: NearMap<(ObjectHandle, Name), Holders>,
    /// Numbers that [`Naming::claimable`] has added before a claimed number. Empty outside a shadow.
    vacant: Vec<GeneratedName>,
}

/// Objects that share an explicit name and an outer.
#[derive(Debug)]
struct Holders {
    /// The latest object is last. Several objects share a name only during a reload or a load, or if the host created several objects with
    /// one name. A load creates each object while the replaced object has the name. The list of both objects needs no allocation, and is as
    /// small as a list of one.
    objects: SmallVec<[ObjectHandle; 2]>,
    /// Series and number that the name contains. The number is zero if the name does not have the form of a generated name.
    reserved: GeneratedName,
}

/// Numbers of the generated names for one class name.
#[derive(Debug)]
struct Series {
    text: Rc<str>,
    /// True if [`name_problem`] allows all names of the series for objects without an outer, and therefore for all objects.
    is_allowed: bool,
    /// For each number, the slot of the object that holds the number. The first entry is for the number 1.
    holders: Vec<u32>,
    /// Numbers that are available for reuse.
    free: VecDeque<u32>,
    /// Maps a number to the count of explicit names that contain the number in the form of a generated name, such as 17 in `MagicCube_17`.
    explicit_numbers: NearMap<u32, u32>,
}

/// Number of classes whose series are cached by class id. Each reload assigns new ids, and new classes then replace the cache entries of
/// old classes. The series of classes outside the cache are looked up by text.
const CACHE_SIZE: usize = 1024;

/// Empty cache entry. No class has this id.
const NO_CLASS: (ClassId, u32) = (ClassId(u32::MAX), 0);

/// Marks a number in `vacant` that no object has claimed.
const VACANT: u32 = u32::MAX - 2;

/// Marks a number that was skipped because an explicit name contains it.
const SKIPPED: u32 = u32::MAX - 1;

/// Marks a number without a holder.
const UNUSED: u32 = u32::MAX;

impl Naming {
    /// Generates a unique name for `object`.
    #[inline(always)]
    pub(super) fn make(&mut self, class: &Class, object: ObjectHandle) -> Label {
        let series = match self.by_class.get(class.id.0 as usize % CACHE_SIZE) {
            Some((known, series)) if *known == class.id => *series,
            _ => self.series_of_class(class),
        };
        let number = self.series[series as usize].next(object);
        Label::Made(GeneratedName { series, number })
    }

    #[cold]
    fn series_of_class(&mut self, class: &Class) -> u32 {
        let series = self.series_of(&class.name);
        if self.by_class.is_empty() {
            self.by_class = vec![NO_CLASS; CACHE_SIZE].into();
        }
        self.by_class[class.id.0 as usize % CACHE_SIZE] = (class.id, series);
        series
    }

    fn series_of(&mut self, text: &str) -> u32 {
        if self.series.get(self.latest as usize).is_some_and(|series| *series.text == *text) {
            return self.latest;
        }
        if let Some(series) = self.by_text.get(text) {
            self.latest = *series;
            return *series;
        }
        let text: Rc<str> = text.into();
        let series = self.series.len() as u32;
        self.series.push(Series {
            text: Rc::clone(&text),
            is_allowed: name_problem(&format!("{text}_{}", u32::MAX), true).is_none(),
            holders: Vec::new(),
            free: VecDeque::new(),
            explicit_numbers: NearMap::default(),
        });
        self.by_text.insert(text, series);
        series
    }

    /// Returns the generated name with the text `text`, and the slot of the holder of its number. Returns `None` if the text does not have
    /// the form of a generated name, if an explicit name contains the number, and if the number is available for reuse. If the number is
    /// new, adds the number and all numbers before it, and reduces `room` by their count. Returns `None` if `room` is too small. If the
    /// returned name has no holder, the caller must call [`Naming::claim`].
    pub(super) fn claimable(&mut self, text: &str, room: &mut usize) -> Option<(GeneratedName, Option<u32>)> {
        let (text, number) = split_generated(text)?;
        let (series, at) = (self.series_of(text), number as usize - 1);
        let Series { holders, explicit_numbers, .. } = &mut self.series[series as usize];
        if !explicit_numbers.is_empty() && explicit_numbers.contains_key(&number) {
            return None;
        }
        let known = holders.len();
        if at >= known {
            *room = room.checked_sub(at + 1 - known)?;
            holders.resize(at + 1, VACANT);
            self.vacant.extend((known as u32 + 1..number).map(|number| GeneratedName { series, number }));
        }
        let name = GeneratedName { series, number };
        match holders[at] {
            UNUSED | SKIPPED => None,
            VACANT => Some((name, None)),
            holder => Some((name, Some(holder))),
        }
    }

    /// Makes `object` the holder of a generated name that [`Naming::claimable`] has returned. The previous holder keeps its label, but its
    /// release no longer frees the number.
    pub(super) fn claim(&mut self, name: GeneratedName, object: ObjectHandle) -> Label {
        self.series[name.series as usize].holders[name.number as usize - 1] = object.index();
        Label::Made(name)
    }

    /// Makes the added numbers that no object has claimed available for reuse. Called at the commit of a shadow.
    pub(super) fn free_vacant(&mut self) {
        for GeneratedName { series, number } in std::mem::take(&mut self.vacant) {
            self.series[series as usize].release(number, VACANT);
        }
    }

    /// Returns the count of numbers in each series, for [`Naming::restore`].
    pub(super) fn counts(&self) -> Vec<usize> {
        self.series.iter().map(|series| series.holders.len()).collect()
    }

    /// Undoes claims: makes the objects in these slots the holders of their numbers. Removes the numbers that were added since
    /// [`Naming::counts`] returned `counts`. Objects that were created since then keep their labels, but their release frees no number.
    /// Keeps the added series without numbers, because these labels refer to the series. Later names with equal text reuse the series.
    pub(super) fn restore(&mut self, claimed: Vec<(GeneratedName, u32)>, counts: &[usize]) {
        for (GeneratedName { series, number }, slot) in claimed {
            self.series[series as usize].holders[number as usize - 1] = slot;
        }
        self.vacant = Vec::new();
        let counts = counts.iter().copied().chain(std::iter::repeat(0));
        for (Series { holders, free, .. }, count) in self.series.iter_mut().zip(counts) {
            holders.truncate(count);
            free.retain(|number| holders.get(*number as usize - 1) == Some(&UNUSED));
        }
    }

    /// Registers the explicit name `name` for `object` in `outer`.
    pub(super) fn assign(&mut self, names: &Names, name: Name, outer: ObjectHandle, object: ObjectHandle) -> Label {
        let reserved = match self.explicit.get_mut(&(outer, name)) {
            Some(holders) => {
                holders.objects.push(object);
                holders.reserved
            }
            None => {
                let reserved = match split_generated(&names.text(name)) {
                    Some((text, number)) => GeneratedName { series: self.series_of(text), number },
                    None => GeneratedName { series: 0, number: 0 },
                };
                self.explicit.insert((outer, name), Holders { objects: smallvec![object], reserved });
                reserved
            }
        };
        if reserved.number != 0 {
            *self.series[reserved.series as usize].explicit_numbers.entry(reserved.number).or_default() += 1;
        }
        Label::Explicit(name)
    }

    /// Registers the name of the default subobject `object` of `outer`. Adds an entry to `explicit` only if the name reserves a number.
    /// Names without a number are listed only by the owner.
    #[inline]
    pub(super) fn assign_part(
        &mut self,
        names: &Names,
        part: PartName,
        outer: ObjectHandle,
        object: ObjectHandle,
    ) -> Label {
        if part.reserves_number { self.assign(names, part.name, outer, object) } else { Label::Part(part.name) }
    }

    /// Releases the generated or explicit name of `object` in `outer`.
    pub(super) fn release(&mut self, label: Label, outer: ObjectHandle, object: ObjectHandle) {
        let name = match label {
            Label::Made(name) => return self.series[name.series as usize].release(name.number, object.index()),
            Label::Part(_) => return,
            Label::Explicit(name) => name,
        };
        let Entry::Occupied(mut entry) = self.explicit.entry((outer, name)) else { return };
        let Holders { objects, reserved } = entry.get_mut();
        let reserved = *reserved;
        objects.retain(|holder| *holder != object);
        if objects.is_empty() {
            entry.remove();
        }
        if reserved.number != 0 {
            self.series[reserved.series as usize].release_explicit(reserved.number);
        }
    }

    /// Returns the interned text of a name.
    pub(super) fn name(&self, names: &Names, label: Label) -> Name {
        match label {
            Label::Explicit(name) | Label::Part(name) => name,
            Label::Made(name) => {
                let mut text = String::new();
                self.write(name, &mut text);
                names.intern(&text)
            }
        }
    }

    /// Returns the generated name of `label`. Returns `None` for other labels, if an explicit name equals the generated name, and if
    /// [`name_problem`] may reject the name.
    pub(super) fn unique(&self, label: Label) -> Option<GeneratedName> {
        let Label::Made(name) = label else { return None };
        let series = &self.series[name.series as usize];
        let is_taken = series.explicit_numbers.contains_key(&name.number);
        (series.is_allowed && !is_taken).then_some(name)
    }

    pub(super) fn write(&self, name: GeneratedName, text: &mut String) {
        text.push_str(&self.series[name.series as usize].text);
        text.push('_');
        write_number(name.number, text);
    }

    /// Returns the objects in `outer` that have the explicit name `text`, latest first. Omits default subobjects that their owner lists. If
    /// the generated name of an object equals `text`, that object is the last result. This object may have any outer. `object_at` returns
    /// the object in a slot.
    pub(super) fn holders(
        &self,
        names: &Names,
        outer: ObjectHandle,
        text: &str,
        object_at: impl Fn(u32) -> ObjectHandle,
    ) -> impl Iterator<Item = ObjectHandle> {
        let explicit = names.find(text).and_then(|name| self.explicit.get(&(outer, name)));
        let made = split_generated(text).and_then(|(text, number)| {
            let series = self.by_text.get(text)?;
            let holder = *self.series[*series as usize].holders.get(number as usize - 1)?;
            (holder < VACANT).then(|| object_at(holder))
        });
        explicit.into_iter().flat_map(|holders| holders.objects.iter().rev().copied()).chain(made)
    }
}

impl Series {
    #[inline]
    fn next(&mut self, object: ObjectHandle) -> u32 {
        loop {
            let number = self.free.pop_front().unwrap_or_else(|| {
                self.holders.push(UNUSED);
                self.holders.len() as u32
            });
            let holder = &mut self.holders[number as usize - 1];
            if self.explicit_numbers.is_empty() || !self.explicit_numbers.contains_key(&number) {
                *holder = object.index();
                return number;
            }
            *holder = SKIPPED;
        }
    }

    /// Makes a number available for reuse. Has no effect unless `holder` is the current entry of the number in `holders`.
    fn release(&mut self, number: u32, holder: u32) {
        let current = self.holders.get_mut(number as usize - 1);
        if let Some(current) = current.filter(|current| **current == holder) {
            *current = UNUSED;
            self.free.push_back(number);
        }
    }

    fn release_explicit(&mut self, number: u32) {
        if let Entry::Occupied(mut count) = self.explicit_numbers.entry(number) {
            if *count.get() > 1 {
                *count.get_mut() -= 1;
                return;
            }
            count.remove();
        }
        self.release(number, SKIPPED);
    }
}

/// Adds the digits of a number. Replaces `write!`, which takes several times as long, because a save writes the name of each object.
fn write_number(number: u32, text: &mut String) {
    if number >= 10 {
        write_number(number / 10, text);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::{GeneratedName, Naming, UNUSED, VACANT, name_problem, split_generated};

    impl Naming {
        /// Checks that the numbers for reuse are the unused numbers, each listed once, and that no number is vacant.
        pub(crate) fn check_free(&self) {
            assert!(self.vacant.is_empty());
            for series in &self.series {
                let unused = series.holders.iter().zip(1..).filter(|(holder, _)| **holder == UNUSED);
                let mut free: Vec<u32> = series.free.iter().copied().collect();
                free.sort_unstable();
                assert_eq!(free, unused.map(|(_, number)| number).collect::<Vec<u32>>(), "{}", series.text);
                assert!(!series.holders.contains(&VACANT), "{}", series.text);
            }
        }
    }

    #[test]
    fn any_visible_text_is_a_name() {
        for name in ["a", "50% off/on", "größer, 日本", "two words", "\"", "default__x"] {
            assert_eq!(name_problem(name, true), None, "{name}");
        }
        for name in ["", "a\0", "a\nb", "\u{1b}[2J", "a\u{202e}b", "Default__Cube", &"a".repeat(1025)] {
            assert!(name_problem(name, true).is_some(), "{name:?}");
        }
        assert_eq!(name_problem("Default__Cube", false), None);
    }

    #[test]
    fn a_generated_name_ends_with_its_number() {
        let mut naming = Naming::default();
        let series = naming.series_of("Big_Cube");
        for number in [0, 1, 9, 10, 99, 100, 54_321, 1_000_000_000, u32::MAX] {
            let mut text = String::new();
            naming.write(GeneratedName { series, number }, &mut text);
            assert_eq!(text, format!("Big_Cube_{number}"));
        }
    }

    #[test]
    fn only_generated_names_are_split() {
        for (text, expected) in [
            ("Cube_17", Some(("Cube", 17))),
            ("Big_Cube_1", Some(("Big_Cube", 1))),
            ("Cube_0", None),
            ("Cube_01", None),
            ("Cube_+1", None),
            ("Cube_", None),
            ("Cube_99999999999", None),
            ("Cube", None),
        ] {
            assert_eq!(split_generated(text), expected, "{text}");
        }
    }
}
