//! Enums: named numbers. In the memory of hosts and plugins, a value is a number of the underlying type. Everywhere else, the name of the
//! entry identifies the value. Values are therefore preserved if a new build changes the number of an entry.

use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::enums;
use alcedo_abi::kinds::PropertyKind;

use crate::origin::Origin;
use crate::property::PropertyType;
use crate::value::Value;

pub use crate::value::EnumValue;

/// Enum type. Immutable after its declaration.
#[derive(Debug)]
pub struct EnumType {
    /// Path, such as `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Name in the package.
    pub name: Rc<str>,
    /// Name of the package, without the prefix `/Script/`.
    pub package: Rc<str>,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
    /// True if the enum is a bit set. Each entry is then one bit.
    pub is_flags: bool,
    pub(super) entries: Vec<EnumEntry>,
    pub(super) underlying: PropertyType,
    pub(super) fingerprint: u64,
}

/// A named number of an enum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumEntry {
    /// Name, unique in its enum.
    pub name: Arc<str>,
    /// Number, unique in its enum.
    pub number: i128,
    /// Display name. If empty, editors derive the display name from `name`.
    pub display: Arc<str>,
    /// True if editors hide the entry.
    pub is_hidden: bool,
    /// Doc comment of the declaration.
    pub doc: Arc<str>,
}

impl EnumType {
    /// Returns the entries, in the order of their declaration.
    pub fn entries(&self) -> &[EnumEntry] {
        &self.entries
    }

    /// Returns the underlying type.
    pub fn underlying(&self) -> &PropertyType {
        &self.underlying
    }

    /// Returns the kind of the underlying type.
    pub fn underlying_kind(&self) -> PropertyKind {
        self.underlying.kind()
    }

    /// Returns the fingerprint of the underlying type, of [`Self::is_flags`], and of the names and numbers of the entries. A module
    /// computes an equal fingerprint at compile time.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the entry with that name.
    pub fn entry(&self, name: &str) -> Option<&EnumEntry> {
        self.entries.iter().find(|entry| &*entry.name == name)
    }

    /// Checks if a number is a valid value. For flags, every number of the underlying type is valid. For other enums, only the numbers of
    /// entries are valid.
    pub fn has(&self, number: i128) -> bool {
        range(self.underlying.kind()).is_some_and(|range| range.contains(&number))
            && (self.is_flags || self.entries.iter().any(|entry| entry.number == number))
    }

    /// Returns the value for a number, even if no entry has this number.
    pub fn value(&self, number: i128) -> EnumValue {
        if let Some(entry) = self.entries.iter().find(|entry| entry.number == number) {
            return EnumValue { text: Arc::clone(&entry.name), number };
        }
        let text = if self.is_flags { self.format_flags(number) } else { number.to_string() };
        EnumValue { text: text.into(), number }
    }

    /// Parses the name of an entry or a valid number, and returns the number. For flags, `|` separates several names and numbers.
    pub fn number(&self, text: &str) -> Option<i128> {
        let one = |text: &str| match self.entry(text) {
            Some(entry) => Some(entry.number),
            None => text.parse().ok().filter(|number| self.has(*number)),
        };
        if !self.is_flags {
            return one(text.trim());
        }
        text.split('|').map(str::trim).filter(|part| !part.is_empty()).try_fold(0, |all, part| Some(all | one(part)?))
    }

    /// Returns the names of all entries, separated by commas, for error messages.
    pub fn names(&self) -> String {
        self.entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join(", ")
    }

    /// Checks if both enums have equal paths, numbers and names.
    pub(super) fn same_numbers(&self, other: &Self) -> bool {
        self.path == other.path && self.fingerprint == other.fingerprint
    }

    fn format_flags(&self, number: i128) -> String {
        let (mut names, mut rest) = (Vec::new(), number);
        for entry in &self.entries {
            // Omits an entry if earlier entries cover all bits of the entry.
            if number & entry.number == entry.number && rest & entry.number != 0 {
                names.push(entry.name.to_string());
                rest &= !entry.number;
            }
        }
        if rest != 0 || names.is_empty() {
            names.push(rest.to_string());
        }
        names.join(" | ")
    }
}

/// Returns the fingerprint of an enum. A module computes an equal fingerprint at compile time.
pub(super) fn fingerprint(underlying: PropertyKind, is_flags: bool, entries: &[EnumEntry]) -> u64 {
    let numbers: Vec<_> = entries.iter().map(|entry| (&*entry.name, entry.number as u64)).collect();
    enums::fingerprint(underlying, is_flags, &numbers)
}

/// Defines the ranges of the integer kinds, and the conversions between their values and `i128`.
macro_rules! integers {
    ($($kind:ident is $rust:ident),*) => {
        /// Returns the range of an integer kind. Returns `None` for other kinds.
        pub(super) fn range(kind: PropertyKind) -> Option<std::ops::RangeInclusive<i128>> {
            match kind {
                $(PropertyKind::$kind => Some($rust::MIN.into()..=$rust::MAX.into()),)*
                _ => None,
            }
        }

        /// Returns the number of an integer value. Returns `None` for other values.
        pub fn whole(value: &Value) -> Option<i128> {
            match *value {
                $(Value::$kind(number) => Some(number.into()),)*
                _ => None,
            }
        }

        /// Converts a number to a value of an integer kind.
        pub(crate) fn number_of(kind: PropertyKind, number: i128) -> Option<Value> {
            match kind {
                $(PropertyKind::$kind => number.try_into().ok().map(Value::$kind),)*
                _ => None,
            }
        }
    };
}
integers! { U8 is u8, U16 is u16, U32 is u32, U64 is u64, I8 is i8, I16 is i16, I32 is i32, I64 is i64 }
