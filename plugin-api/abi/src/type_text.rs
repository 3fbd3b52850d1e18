//! Strings that are computed at compile time: types such as `Map(String, Array(f64))`, and names in compiler messages. A nested type
//! crosses the ABI boundary as a string. Host and plugin need this string in constants, where `format!` is unavailable.

use crate::kinds::{KindForm, PropertyKind};
use crate::names::unraw;

/// Maximum length of a type's string form, in bytes.
const ROOM: usize = 512;

/// Suffix that replaces the omitted part of a truncated string.
pub const CUT: &str = " …";

/// String computed at compile time.
#[derive(Clone, Copy, Debug)]
pub struct TypeText {
    bytes: [u8; ROOM],
    len: usize,
}

impl TypeText {
    /// Concatenates strings.
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

    /// Formats a type with a kind and a path. The result has the format that the host uses.
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
        match kind.form() {
            KindForm::Struct => Self::joined(&[path]),
            KindForm::Signature => Self::joined(&[name, "(", path, ")"]),
            _ if path.is_empty() => Self::joined(&[name]),
            _ => Self::joined(&[name, "(", path, ")"]),
        }
    }

    /// Appends a string.
    #[must_use]
    pub const fn and(mut self, more: &str) -> Self {
        assert!(
            self.len + more.len() <= ROOM,
            "the text of this type is longer than 512 bytes: nest it less, or put a part of it into a `#[ustruct]`"
        );
        self.len = put(&mut self.bytes, self.len, more.as_bytes());
        self
    }

    /// Returns true if `bytes` bytes and [`CUT`] can be appended.
    #[must_use]
    pub const fn has_room_for(&self, bytes: usize) -> bool {
        self.len + bytes + CUT.len() <= ROOM
    }

    /// Returns the string.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        joined_text(self.bytes.split_at(self.len).0)
    }
}

/// Returns true if types of the kind contain the path of a struct, class or interface.
const fn has_a_type_path(kind: PropertyKind) -> bool {
    matches!(kind.form(), KindForm::Struct | KindForm::Path) && kind.0 != PropertyKind::ENUM.0
}

/// Returns true if a string has the form `/Script/<Package>.<Type>`. Rejects parentheses and commas in a path, because they would change
/// the meaning of the type string that contains the path.
#[must_use]
pub const fn is_type_path(path: &str) -> bool {
    match package_and_name(path) {
        Some((package, name)) => is_name(package) && is_name(name),
        None => false,
    }
}

/// Splits a path after its package: `Game` and `Cube:OnHit` for the path `/Script/Game.Cube:OnHit`.
#[must_use]
pub const fn package_and_name(path: &str) -> Option<(&str, &str)> {
    match path.split_at_checked("/Script/".len()) {
        Some((root, path)) if is_same(root, "/Script/") => split_once(path, b'.'),
        _ => None,
    }
}

/// Splits a string at the first separator.
const fn split_once(text: &str, separator: u8) -> Option<(&str, &str)> {
    let mut at = 0;
    while at < text.len() {
        if text.as_bytes()[at] == separator {
            return Some((text.split_at(at).0, text.split_at(at + 1).1));
        }
        at += 1;
    }
    None
}

/// Returns true if a string is the path of the type `name` in `package`.
#[must_use]
pub const fn is_path_of(path: &str, package: &str, name: &str) -> bool {
    is_type_path(path) && is_joined(path, &["/Script/", package, ".", name])
}

/// Returns true if a string is the path of a member of the type at `owner`.
#[must_use]
pub const fn is_member_path(path: &str, owner: &str) -> bool {
    match split_once(path, b':') {
        Some((found, member)) => is_type_path(owner) && is_same(found, owner) && is_name(member),
        None => false,
    }
}

/// Returns true if a string is a valid path of a delegate: the path of a type or of a member.
#[must_use]
pub const fn is_delegate_path(path: &str) -> bool {
    match split_once(path, b':') {
        Some((owner, member)) => is_type_path(owner) && is_name(member),
        None => is_type_path(path),
    }
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

/// Returns true if a string is a valid name of a package, a type or a member. Accepts all letters outside ASCII, because the compiler and
/// the host check these letters.
const fn is_name(text: &str) -> bool {
    let (text, mut at) = (text.as_bytes(), 0);
    while at < text.len() {
        let byte = text[at];
        let is_letter = byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii();
        if !is_letter && (at == 0 || !byte.is_ascii_digit()) {
            return false;
        }
        at += 1;
    }
    !text.is_empty()
}

/// Writes more bytes at an index. Returns the index of the next byte.
#[must_use]
pub const fn put(bytes: &mut [u8], at: usize, more: &[u8]) -> usize {
    let (_, rest) = bytes.split_at_mut(at);
    rest.split_at_mut(more.len()).0.copy_from_slice(more);
    at + more.len()
}

/// Returns the total length of three strings in bytes.
#[must_use]
pub const fn joined_len(parts: [&str; 3]) -> usize {
    parts[0].len() + parts[1].len() + parts[2].len()
}

/// Concatenates three strings; `N` is the result of [`joined_len`].
#[must_use]
pub const fn joined<const N: usize>(parts: [&str; 3]) -> [u8; N] {
    let mut bytes = [0; N];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        at = put(&mut bytes, at, parts[part].as_bytes());
        part += 1;
    }
    bytes
}

/// Converts the bytes of joined strings to a string.
///
/// # Panics
/// Panics if the bytes are not valid UTF-8.
#[must_use]
pub const fn joined_text(bytes: &[u8]) -> &str {
    let Ok(text) = core::str::from_utf8(bytes) else { panic!("joined strings are valid UTF-8") };
    text
}

/// Concatenates three strings at compile time.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_join {
    ($a:expr, $b:expr, $c:expr) => {{
        const ALCEDO_LEN: usize = $crate::type_text::joined_len([$a, $b, $c]);
        const ALCEDO_BYTES: [u8; ALCEDO_LEN] = $crate::type_text::joined([$a, $b, $c]);
        const ALCEDO_TEXT: &str = $crate::type_text::joined_text(&ALCEDO_BYTES);
        ALCEDO_TEXT
    }};
}

/// Returns the total length of the paths that [`member_paths`] returns.
#[must_use]
pub const fn member_paths_len(path: &str, names: &[&str]) -> usize {
    let (mut len, mut at) = (0, 0);
    while at < names.len() {
        len += path.len() + ":".len() + names[at].len();
        at += 1;
    }
    len
}

/// Concatenates `path:name` for all names; `N` is the result of [`member_paths_len`].
#[must_use]
pub const fn joined_member_paths<const N: usize>(path: &str, names: &[&str]) -> [u8; N] {
    let (mut bytes, mut at, mut name) = ([0; N], 0, 0);
    while name < names.len() {
        at = put(&mut bytes, at, path.as_bytes());
        at = put(&mut bytes, at, b":");
        at = put(&mut bytes, at, names[name].as_bytes());
        name += 1;
    }
    bytes
}

/// Splits the result of [`joined_member_paths`] into paths; `N` is the number of names.
///
/// # Panics
/// Panics if `bytes` was joined from a different path or different names.
#[must_use]
pub const fn member_paths<const N: usize>(bytes: &'static [u8], path: &str, names: &[&str]) -> [&'static str; N] {
    let (mut paths, mut at, mut rest) = ([""; N], 0, joined_text(bytes));
    while at < N {
        (paths[at], rest) = rest.split_at(path.len() + ":".len() + names[at].len());
        at += 1;
    }
    paths
}

/// Declares `ALCEDO_PATHS`: the `$count` member paths in the form `path:name`, computed at compile time. The expansion repeats the names,
/// because a constant for the names would take longer to compile.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_member_paths {
    ($path:expr, $count:literal [$($name:literal),*]) => {
        const ALCEDO_BYTES: [u8; $crate::type_text::member_paths_len($path, &[$($name),*])] =
            $crate::type_text::joined_member_paths($path, &[$($name),*]);
        #[allow(dead_code, reason = "functions may have conditions")]
        const ALCEDO_PATHS: &[&str; $count] = &$crate::type_text::member_paths(&ALCEDO_BYTES, $path, &[$($name),*]);
    };
}

/// Compares two strings in a constant. Returns true if the strings are equal.
#[must_use]
pub const fn is_same(one: &str, other: &str) -> bool {
    is_joined(one, &[other])
}

/// Returns true if `names` contains `name`. A raw identifier is equal to the identifier without `r#`.
#[must_use]
pub const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if is_same(unraw(names[at]), unraw(name)) {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns the name that is most similar to `name`: the name with the fewest inserted, removed and replaced bytes. Returns `None` if every
/// name differs in more bytes than half the length of `name`.
#[must_use]
pub const fn nearest(names: &[&'static str], name: &str) -> Option<&'static str> {
    let (mut best, mut least, mut at) = (None, name.len() / 2 + 1, 0);
    while at < names.len() {
        let distance = distance(names[at].as_bytes(), name.as_bytes());
        if distance < least {
            (best, least) = (Some(names[at]), distance);
        }
        at += 1;
    }
    best
}

/// Maximum length of names that are compared, in bytes.
const LONGEST: usize = 64;

/// Returns the number of inserted, removed and replaced bytes between two names. Returns the maximum for names of more than 64 bytes.
#[must_use]
pub const fn distance(one: &[u8], other: &[u8]) -> usize {
    if one.len() > LONGEST || other.len() > LONGEST {
        return usize::MAX;
    }
    let (mut row, mut at) = ([0; LONGEST + 1], 0);
    while at <= other.len() {
        row[at] = at;
        at += 1;
    }
    let mut line = 0;
    while line < one.len() {
        let (mut diagonal, mut at) = (row[0], 0);
        row[0] = line + 1;
        while at < other.len() {
            let replaced = diagonal + (one[line] != other[at]) as usize;
            diagonal = row[at + 1];
            let moved = 1 + if row[at] < diagonal { row[at] } else { diagonal };
            row[at + 1] = if moved < replaced { moved } else { replaced };
            at += 1;
        }
        line += 1;
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{is_delegate_path, is_member_path, is_path_of, is_same, is_type_path, nearest};

    #[test]
    fn strings_are_equal_when_all_of_both_is() {
        let cases = [("", ""), ("a", ""), ("", "a"), ("ab", "ab"), ("ab", "a"), ("a", "ab"), ("ab", "ac")];
        assert_eq!(cases.map(|(one, other)| is_same(one, other)), cases.map(|(one, other)| one == other));
    }

    #[test]
    fn the_nearest_name_has_the_fewest_other_letters() {
        let names = ["receive_tick", "receive_end_play", "jump"];
        for (name, expected) in [
            ("receive_tock", Some("receive_tick")),
            ("recieve_tick", Some("receive_tick")),
            ("end_play", None),
            ("jmp", Some("jump")),
            ("land", None),
            ("", None),
        ] {
            assert_eq!(nearest(&names, name), expected, "{name}");
        }
    }

    #[test]
    fn of_equally_near_names_the_first_is_meant() {
        assert_eq!(nearest(&["jumps", "jumped", "jumpy"], "jump"), Some("jumps"));
        assert_eq!(nearest(&["abcd"], "xyz"), None);
        assert_eq!(nearest(&["abc"], "axy"), None, "two of three bytes differ");
    }

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
}
