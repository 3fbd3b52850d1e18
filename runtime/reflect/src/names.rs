//! Interned names. Names cross the ABI boundary and are stored in object memory as numbers. Equal strings must therefore have equal numbers
//! for the lifetime of the world. Names are never removed.

use std::rc::Rc;

use alcedo_base::cells::RefCell;
use alcedo_base::handles::Name;

use crate::near_hash::NearMap;

/// Approximate overhead of a name in bytes, without its characters: list entry, table entry, and two reference counts.
const NAME: usize = 64;

/// Name table of a world. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_reflect::names::Names;
///
/// let names = Names::default();
/// let door = names.intern("door");
/// assert_eq!(names.intern("door"), door);
/// assert_eq!(&*names.text(door), "door");
/// assert_eq!(names.find("window"), None);
/// ```
#[derive(Debug)]
pub struct Names {
    table: RefCell<Table>,
}

#[derive(Debug)]
struct Table {
    strings: Vec<Rc<str>>,
    numbers: NearMap<Rc<str>, Name>,
}

impl Default for Names {
    /// Creates a table with only the empty name.
    fn default() -> Self {
        let empty: Rc<str> = "".into();
        let table = Table { numbers: [(empty.clone(), Name(0))].into_iter().collect(), strings: vec![empty] };
        Self { table: RefCell::new(table) }
    }
}

impl Names {
    /// Interns `text`, case-sensitively. The empty string is `Name(0)`.
    ///
    /// # Panics
    /// Panics if the table is full, at about four billion names.
    pub fn intern(&self, text: &str) -> Name {
        let mut table = self.table.borrow_mut();
        if let Some(name) = table.numbers.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(table.strings.len()).expect("fewer than four billion names"));
        crate::held::more(text.len() + NAME);
        let text: Rc<str> = text.into();
        table.strings.push(text.clone());
        table.numbers.insert(text, name);
        name
    }

    /// Returns the interned name with the text `text`. Returns `None` if `text` is not interned.
    #[inline]
    pub fn find(&self, text: &str) -> Option<Name> {
        self.table.borrow().numbers.get(text).copied()
    }

    /// Returns the text of `name`. Returns the empty string for an unknown number. An unknown number can only originate from memory that a
    /// plugin overwrote.
    #[inline]
    pub fn text(&self, name: Name) -> Rc<str> {
        let table = self.table.borrow();
        table.strings.get(name.0 as usize).unwrap_or(&table.strings[0]).clone()
    }

    /// Checks if the text of `name` is `text`.
    #[inline]
    pub(super) fn has_text(&self, name: Name, text: &str) -> bool {
        self.table.borrow().strings.get(name.0 as usize).is_some_and(|known| **known == *text)
    }
}

/// Name of a default subobject in its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartName {
    pub(super) name: Name,
    /// True if the name has the form of a generated name, and therefore reserves a number.
    pub(super) reserves_number: bool,
}

impl PartName {
    pub(super) fn of(names: &Names, text: &str) -> Self {
        Self { name: names.intern(text), reserves_number: split_generated(text).is_some() }
    }
}

/// Splits a generated name into class name and number. Returns `None` for a name that does not have the form of a generated name.
pub(super) fn split_generated(text: &str) -> Option<(&str, u32)> {
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (text, digits) = text.split_at(text.len() - digits);
    let text = text.strip_suffix('_').filter(|_| !digits.starts_with('0'))?;
    Some((text, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::Name;

    use super::Names;

    #[test]
    fn equal_texts_have_equal_numbers() {
        let names = Names::default();
        let tick = names.intern("tick");
        assert_eq!(names.intern("tick"), tick);
        assert_eq!(&*names.text(tick), "tick");
        assert_eq!(names.find("tick"), Some(tick));
    }

    #[test]
    fn names_are_case_sensitive() {
        let names = Names::default();
        assert_ne!(names.intern("tick"), names.intern("Tick"));
        assert_eq!(names.find("TICK"), None);
    }

    #[test]
    fn the_empty_name_is_number_zero_and_the_fallback() {
        let names = Names::default();
        assert_eq!(names.intern(""), Name(0));
        assert_eq!((&*names.text(Name(0)), &*names.text(Name(77))), ("", ""));
        assert!(names.has_text(Name(0), "") && !names.has_text(Name(0), "a") && !names.has_text(Name(77), ""));
    }
}
