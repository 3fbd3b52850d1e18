//! The text of a type, put together while the plugin is compiled: `Map(String, Array(f64))`. A nested type travels over
//! the border as this text, so it has to stand in constants, and `format!` cannot help there.

use alcedo_abi::kinds::PropertyKind;

/// Bytes that the text of a type may have.
const ROOM: usize = 512;

/// What stands for the rest of a text that is cut.
pub(crate) const CUT: &str = " …";

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
        assert!(
            !has_a_type_path(kind) || is_type_path(path),
            "the path of a type is written `/Script/<Package>.<Type>`, each a name of letters, digits and `_`"
        );
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

    pub(crate) const fn and(mut self, more: &str) -> Self {
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

    /// Whether so many bytes can follow, and [`CUT`] behind them.
    pub(crate) const fn has_room_for(&self, bytes: usize) -> bool {
        self.len + bytes + CUT.len() <= ROOM
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

/// Whether values of the kind have the path of one struct, class or interface, and no text of types.
const fn has_a_type_path(kind: PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::STRUCT
            | PropertyKind::OBJECT
            | PropertyKind::SUBCLASS_OF
            | PropertyKind::SOFT_CLASS
            | PropertyKind::SOFT_OBJECT
            | PropertyKind::LAZY_OBJECT
            | PropertyKind::WEAK_OBJECT
            | PropertyKind::SCRIPT_INTERFACE
    )
}

/// Whether a text is `/Script/<Package>.<Type>`. A part of it that were syntax of types would change the meaning of every
/// text that it is put into.
#[must_use]
pub(crate) const fn is_type_path(path: &str) -> bool {
    let (path, root) = (path.as_bytes(), b"/Script/");
    let mut at = 0;
    while at < root.len() {
        if at >= path.len() || path[at] != root[at] {
            return false;
        }
        at += 1;
    }
    let package_from = at;
    while at < path.len() && path[at] != b'.' {
        at += 1;
    }
    at < path.len() && is_name(path, package_from, at) && is_name(path, at + 1, path.len())
}

/// Whether a text is the path of the type `name` in `package`.
#[must_use]
pub(crate) const fn is_path_of(path: &str, package: &str, name: &str) -> bool {
    is_type_path(path) && is_joined(path, &["/Script/", package, ".", name])
}

/// Whether a text is the path of a member of the type at `owner`.
#[must_use]
pub(crate) const fn is_member_path(path: &str, owner: &str) -> bool {
    let (bytes, length) = (path.as_bytes(), owner.len());
    if !is_type_path(owner) || bytes.len() <= length || bytes[length] != b':' {
        return false;
    }
    let mut at = 0;
    while at < length {
        if bytes[at] != owner.as_bytes()[at] {
            return false;
        }
        at += 1;
    }
    is_name(bytes, length + 1, bytes.len())
}

/// Whether a text is the path of a type, or of a member of one: that of a delegate is either.
#[must_use]
pub(crate) const fn is_delegate_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b':' {
            let (owner, _member) = path.split_at(at);
            return is_member_path(path, owner);
        }
        at += 1;
    }
    is_type_path(path)
}

const fn is_joined(text: &str, parts: &[&str]) -> bool {
    let (text, mut at, mut part) = (text.as_bytes(), 0, 0);
    while part < parts.len() {
        let bytes = parts[part].as_bytes();
        let mut from = 0;
        while from < bytes.len() {
            if at >= text.len() || text[at] != bytes[from] {
                return false;
            }
            (at, from) = (at + 1, from + 1);
        }
        part += 1;
    }
    at == text.len()
}

/// Whether a part of a text may name a package, a type or a member. What is no ASCII is left to the compiler, which
/// knows which letters a name has, and to the host, which checks again.
const fn is_name(text: &[u8], from: usize, to: usize) -> bool {
    let mut at = from;
    while at < to {
        let byte = text[at];
        let is_letter = byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii();
        if !is_letter && (at == from || !byte.is_ascii_digit()) {
            return false;
        }
        at += 1;
    }
    from < to
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::{Delegate, MulticastDelegate, Obj, Object, SoftObject, UArray, UMap, UName, UOptional, USet, Value};

    use super::{is_delegate_path, is_member_path, is_path_of, is_type_path};

    #[test]
    fn a_member_belongs_to_the_very_type() {
        assert!(is_member_path("/Script/Game.Cube:speed", "/Script/Game.Cube"));
        for path in ["/Script/Game.Cube", "/Script/Game.Cube:", "/Script/Game.Cubes:speed", "/Script/Game.Cube:a:b"] {
            assert!(!is_member_path(path, "/Script/Game.Cube"), "{path}");
        }
        assert!(is_path_of("/Script/Game.Cube", "Game", "Cube"));
        assert!(!is_path_of("/Script/Game.Cube", "Game", "Cub") && !is_path_of("/Script/Game.Cube", "Game", "Cubes"));
        assert!(!is_path_of("/Script/Game.Cube:a", "Game", "Cube:a"));
        assert!(is_delegate_path("/Script/Game.OnHit") && is_delegate_path("/Script/Game.Cube:OnHit"));
        assert!(!is_delegate_path("/Script/Game.Cube:OnHit:a") && !is_delegate_path("/Script/Game.Cube:"));
    }

    #[test]
    fn a_path_with_syntax_of_types_in_it_is_none() {
        for path in ["/Script/Game.Cube", "/Script/_a1.B_2", "/Script/Game.Größe"] {
            assert!(is_type_path(path), "{path}");
        }
        for path in [
            "",
            "/Script/",
            "/Script/Game",
            "/Script/Game.",
            "/Script/.Cube",
            "Script/Game.Cube",
            "/Script/Game.Cube.Cube",
            "/Script/Game.9",
            "/Script/9.Cube",
            "/Script/Game.Cube:speed",
            "/Script/Game.Cube)",
            "/Script/Game.Innocent), Delegate(Array(u8",
            "/Script/Ga me.Cube",
            "/Script/Game.Cube\n",
        ] {
            assert!(!is_type_path(path), "{path}");
        }
    }

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
