//! The text of a type, put together while the plugin is compiled: `Map(String, Array(f64))`. A nested type travels over
//! the border as this text, so it has to stand in constants, and `format!` cannot help there.

use alcedo_abi::kinds::PropertyKind;

/// Bytes that the text of a type may have.
const ROOM: usize = 512;

/// A text in the making, and then a constant that texts are cut out of.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct TypeText {
    bytes: [u8; ROOM],
    len: usize,
}

impl TypeText {
    /// The texts one after the other.
    #[must_use]
    pub const fn joined(parts: &[&str]) -> Self {
        let mut text = Self { bytes: [0; ROOM], len: 0 };
        let mut at = 0;
        while at < parts.len() {
            text = text.and(parts[at]);
            at += 1;
        }
        text
    }

    /// The whole type of a kind with that path, as the host prints it.
    #[must_use]
    pub const fn of(kind: PropertyKind, path: &str) -> Self {
        let name = match kind.text() {
            Some(name) => name,
            None => "?",
        };
        match kind {
            PropertyKind::STRUCT => Self::joined(&[path]),
            PropertyKind::DELEGATE | PropertyKind::MULTICAST_DELEGATE | PropertyKind::SPARSE_DELEGATE => {
                Self::joined(&[name, "(", path, ")"])
            }
            _ if path.is_empty() => Self::joined(&[name]),
            _ => Self::joined(&[name, "(", path, ")"]),
        }
    }

    const fn and(mut self, more: &str) -> Self {
        let more = more.as_bytes();
        assert!(
            self.len + more.len() <= ROOM,
            "the text of this type is longer than 512 bytes: nest it less, or put a part of it into a `#[ustruct]`"
        );
        let mut at = 0;
        while at < more.len() {
            self.bytes[self.len] = more[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    /// The text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            // Whole texts were put in, one after the other.
            Err(_) => "?",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::{Delegate, MulticastDelegate, Obj, Object, SoftObject, UArray, UMap, UName, UOptional, USet, Value};

    fn check<T: Value>(text: &str) {
        assert_eq!(T::TYPE.as_str(), text);
    }

    #[test]
    fn a_type_reads_as_the_host_prints_it() {
        check::<f64>("f64");
        check::<Obj<Object>>("Object(/Script/Core.Object)");
        check::<UArray<f64>>("Array(f64)");
        check::<Vec<f64>>("Array(f64)");
        check::<UOptional<i32>>("Optional(i32)");
        check::<UMap<String, UArray<Obj<Object>>>>("Map(String, Array(Object(/Script/Core.Object)))");
        check::<BTreeMap<UName, BTreeSet<u8>>>("Map(Name, Set(u8))");
        check::<USet<SoftObject<Object>>>("Set(SoftObject(/Script/Core.Object))");
        check::<Delegate<fn(f32, String) -> bool>>("Delegate(f32, String -> bool)");
        check::<Delegate<fn() -> bool>>("Delegate(-> bool)");
        check::<MulticastDelegate<fn()>>("MulticastDelegate()");
        check::<UArray<UArray<UArray<UArray<bool>>>>>("Array(Array(Array(Array(bool))))");
    }
}
