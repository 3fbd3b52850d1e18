//! Descriptions of enums, as constants. The attribute macros for plugins and hosts describe an enum by the names and numbers of its
//! entries. A number is sign-extended to 64 bits.

use abi_stable::std_types::{RSlice, RStr};

use crate::describe::{EnumDesc, EnumEntryDesc};
use crate::fingerprint::Fingerprint;
use crate::kinds::PropertyKind;

/// Names and numbers of the entries of an enum.
pub type EnumNumbers = &'static [(&'static str, u64)];

/// Describes an entry of an enum: the name and number, the display name, a flag to hide the entry in editors, and the doc comment.
#[must_use]
pub const fn enum_entry(
    (name, number): (&'static str, u64),
    display: &'static str,
    is_hidden: bool,
    doc: &'static str,
) -> EnumEntryDesc {
    let (name, display, doc) = (RStr::from_str(name), RStr::from_str(display), RStr::from_str(doc));
    EnumEntryDesc { name, number, display, doc, hidden: is_hidden as u8 }
}

/// Describes an enum by its package and name.
#[must_use]
pub const fn enumeration(
    (package, name): (&'static str, &'static str),
    underlying: PropertyKind,
    is_flags: bool,
    numbers: &[(&str, u64)],
    entries: &'static [EnumEntryDesc],
    doc: &'static str,
) -> EnumDesc {
    EnumDesc {
        package: RStr::from_str(package),
        name: RStr::from_str(name),
        underlying,
        flags: is_flags as u8,
        entries: RSlice::from_slice(entries),
        fingerprint: fingerprint(underlying, is_flags, numbers),
        doc: RStr::from_str(doc),
    }
}

/// Computes the fingerprint of an enum. Reflection computes an equal fingerprint from the declaration.
#[must_use]
pub const fn fingerprint(underlying: PropertyKind, is_flags: bool, numbers: &[(&str, u64)]) -> u64 {
    let mut print = Fingerprint::START.number(underlying.0 as u64).number(is_flags as u64);
    let mut at = 0;
    while at < numbers.len() {
        let (name, number) = numbers[at];
        print = print.text(name).number(number);
        at += 1;
    }
    print.finish()
}

/// Returns true if all numbers fit in a byte.
#[must_use]
pub const fn fit_a_byte(numbers: &[(&str, u64)]) -> bool {
    let (mut fit, mut at) = (true, 0);
    while at < numbers.len() {
        // A negative number is a large `u64`, which does not fit in a byte.
        fit = fit && numbers[at].1 <= u8::MAX as u64;
        at += 1;
    }
    fit
}

/// Returns the number of an entry with its sign.
#[must_use]
pub const fn signed(underlying: PropertyKind, number: u64) -> i128 {
    match underlying {
        PropertyKind::I8 | PropertyKind::I16 | PropertyKind::I32 | PropertyKind::I64 => number as i64 as i128,
        _ => number as i128,
    }
}

/// Returns the number of an entry. For several entries, separated by `|`, returns the combined number.
///
/// # Panics
/// Panics if the enum at `path` lacks an entry.
#[must_use]
pub fn entry_number(path: &str, text: &str, numbers: &[(&str, u64)]) -> u64 {
    let one = |part: &str| {
        let found = numbers.iter().find(|(name, _)| *name == part).map(|(_, number)| *number);
        found.unwrap_or_else(|| panic!("`{part}` is not an entry of {path}"))
    };
    text.split('|').map(str::trim).filter(|part| !part.is_empty()).fold(0, |all, part| all | one(part))
}
