//! What the members of a class are called, so that the compiler can say where a property is that was looked for in `self`.

use alcedo_abi::override_check;
use alcedo_abi::type_text::{TypeText, contains as has, is_same};

use crate::{Class, Object};

/// The names of the members of a class and its bases.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    properties: &'static [&'static str],
    fields: &'static [&'static str],
    base: Option<&'static Members>,
}

impl Members {
    /// None are known.
    pub const NONE: Self = Self { properties: &[], fields: &[], base: None };

    /// Those of a class that extends `B`.
    #[must_use]
    pub const fn of<B: Class>(properties: &'static [&'static str], fields: &'static [&'static str]) -> Self {
        Self { properties, fields, base: Some(&B::MEMBERS) }
    }

    const fn has_property(&self, name: &str) -> bool {
        // A field of the author's own may be called as a property of a base.
        if contains(self.fields, name) {
            return false;
        }
        if contains(self.properties, name) {
            return true;
        }
        match self.base {
            Some(base) => base.has_property(name),
            None => false,
        }
    }
}

/// Whether `name` is a property of the class or of one of its bases, and no field of its plugin part.
#[must_use]
pub const fn is_property<C: Class>(name: &str) -> bool {
    C::MEMBERS.has_property(name)
}

/// Returns the message about an override of an event that `C` does not declare.
#[must_use]
pub const fn no_event<C: Class>(problem: &str, name: &str, id: &str) -> TypeText {
    override_check::no_event(problem, name, C::EVENTS, declarer::<C>(name), id)
}

/// Returns the path of the class that declares an event, of `C` and its bases.
const fn declarer<C: Class>(name: &str) -> Option<&'static str> {
    if has(C::EVENTS, name) {
        return Some(C::PATH);
    }
    if is_same(C::PATH, <Object as Class>::PATH) {
        return None;
    }
    declarer::<C::Base>(name)
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        // A field that is called as a word of the language: the compiler writes `r#type`.
        let known = match names[at].as_bytes() {
            [b'r', b'#', known @ ..] | known => known,
        };
        if equal(known, name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
