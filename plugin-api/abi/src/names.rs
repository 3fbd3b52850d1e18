//! Syntax of versions and of the names of modules and types. Names and versions become file names, parts of ZCall names and text in logs,
//! so each kind of string has a grammar and a maximum length. The writer and the reader of the manifest section check these rules.

use core::fmt;

/// Maximum length of a module's name, in bytes.
pub const LONGEST_MODULE_NAME: usize = 64;

/// Maximum length of an identifier (a package, a type or a member), in bytes.
pub const LONGEST_IDENTIFIER: usize = 255;

/// Maximum length of a version, in bytes.
pub const LONGEST_VERSION: usize = 64;

/// Maximum length of a version range, of a compiler's version string and of other printable text, in bytes.
pub const LONGEST_WORDS: usize = 256;

/// Rule for the name of a module, as reported in errors.
pub const MODULE_NAME_RULE: &str =
    "a module is named by at most 64 lower-case letters, digits and `_`, and starts with a letter";

/// Rule for the name of a dependency, as reported in errors.
pub const DEPENDENCY_NAME_RULE: &str = "a dependency is named by at most 64 letters, digits and `_`, and starts with a letter: a module or a package of scripts";

/// Rule for the path of a type, as reported in errors.
pub const TYPE_PATH_RULE: &str = "a type has a path `/Script/<Package>.<Type>` of two identifiers, each at most 255 bytes of letters, digits and `_`";

/// Rule for a version, as reported in errors.
pub const VERSION_RULE: &str = "a version is at most 64 letters, digits, `.`, `-` and `+`";

/// Rule for a version range, as reported in errors.
pub const VERSION_RANGE_RULE: &str = "a version range is at most 256 bytes, written as Cargo writes them";

/// Rule for printable text, as reported in errors.
pub const PRINTABLE_RULE: &str = "it must be at most 256 bytes and have no control characters";

/// Removes the prefix of a raw identifier such as `r#type`, because a name in the host has no prefix.
#[must_use]
pub const fn unraw(ident: &str) -> &str {
    match ident.as_bytes() {
        [b'r', b'#', ..] => ident.split_at(2).1,
        _ => ident,
    }
}

/// Returns true for a valid module name.
#[must_use]
pub const fn is_module_name(text: &str) -> bool {
    is_short_name(text.as_bytes(), false)
}

/// Returns true for a valid name of a dependency: the name of a library or of a package of scripts.
#[must_use]
pub const fn is_dependency_name(text: &str) -> bool {
    is_short_name(text.as_bytes(), true)
}

const fn is_short_name(bytes: &[u8], upper_case: bool) -> bool {
    !bytes.is_empty()
        && bytes.len() <= LONGEST_MODULE_NAME
        && !matches!(bytes[0], b'_' | b'0'..=b'9')
        && consists_of(bytes, b"_", upper_case)
}

/// Checks only the length and the characters of a version. The code that compares versions checks the syntax.
#[must_use]
pub const fn is_version(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_VERSION && consists_of(text.as_bytes(), b".-+", true)
}

/// Checks only the length and the characters of a version range.
#[must_use]
pub const fn is_version_range(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_WORDS && consists_of(text.as_bytes(), b".-+*^~<>=, ", true)
}

const fn consists_of(bytes: &[u8], marks: &[u8], upper_case: bool) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let is_letter = byte.is_ascii_lowercase() || byte.is_ascii_digit() || (upper_case && byte.is_ascii_uppercase());
        let mut mark = 0;
        while mark < marks.len() && marks[mark] != byte {
            mark += 1;
        }
        if !is_letter && mark == marks.len() {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns true for a valid name of a package, a type or a member: letters, digits and `_`, not starting with a digit.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_IDENTIFIER
        && !text.starts_with(char::is_numeric)
        && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Returns true for the path of a type: `/Script/<Package>.<Type>`.
#[must_use]
pub fn is_type_path(text: &str) -> bool {
    let parts = text.strip_prefix("/Script/").and_then(|rest| rest.split_once('.'));
    parts.is_some_and(|(package, name)| is_identifier(package) && is_identifier(name))
}

/// Returns true for the path of a member of a type: `/Script/<Package>.<Type>:<Member>`.
#[must_use]
pub fn is_member_path(text: &str) -> bool {
    text.split_once(':').is_some_and(|(owner, member)| is_type_path(owner) && is_identifier(member))
}

/// Returns true for a string of at most [`LONGEST_WORDS`] bytes, if [`shows_itself`] accepts each character.
#[must_use]
pub fn is_printable(text: &str) -> bool {
    text.len() <= LONGEST_WORDS && text.chars().all(shows_itself)
}

/// Returns true if a terminal displays the character without side effects. Returns false for control characters, Unicode line
/// breaks, bidirectional controls, and characters without a glyph.
#[must_use]
pub fn shows_itself(letter: char) -> bool {
    let is_ascii = matches!(letter, ' '..='~');
    is_ascii
        || !letter.is_control()
            && !matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Start of an invalid string, for errors. `Debug` and `Display` escape control characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    bytes: [u8; 48],
    kept: u8,
    len: usize,
}

impl Excerpt {
    /// Creates an excerpt of the start of `text`, cut at the last character that fits.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut bytes = [0; 48];
        let kept = text.floor_char_boundary(bytes.len());
        bytes[..kept].copy_from_slice(&text.as_bytes()[..kept]);
        Self { bytes, kept: kept as u8, len: text.len() }
    }

    /// Returns the stored part of the string, unescaped.
    #[must_use]
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.kept)]).unwrap_or_default()
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text())?;
        if usize::from(self.kept) < self.len {
            write!(f, "… ({} bytes)", self.len)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Excerpt, is_identifier, is_member_path, is_module_name, is_printable, is_type_path, is_version,
        is_version_range, unraw,
    };

    /// Strings that are unsafe as a file name, in a log line or in a terminal.
    const HOSTILE: [&str; 12] = [
        "",
        "a\0b",
        "a\nb",
        "a\u{1b}[2J",
        "../a",
        "a/b",
        "a b\u{202e}c",
        "a:b",
        "\u{feff}a",
        "a\u{85}",
        "a\r",
        "%s\u{7f}",
    ];

    #[test]
    fn no_grammar_lets_a_hostile_text_pass() {
        for text in HOSTILE {
            assert!(!is_module_name(text) && !is_identifier(text) && !is_type_path(text), "{text:?}");
            assert!(!is_version(text) && !is_version_range(text), "{text:?}");
            assert!(!is_type_path(&["/Script/Game.", text].concat()), "{text:?}");
        }
        for text in ["a\0b", "a\nb", "a\u{1b}[2J", "a b\u{202e}c", "\u{feff}a", "a\u{85}", "a\r", "\u{7f}"] {
            assert!(!is_printable(text), "{text:?}");
        }
    }

    #[test]
    fn valid_names_of_authors_are_accepted() {
        assert!(["a", "magic_cube", "a9_"].into_iter().all(is_module_name));
        assert!(["Cube", "_a1", "Größe", "x"].into_iter().all(is_identifier));
        assert!(["/Script/Game.Cube", "/Script/_a.B9"].into_iter().all(is_type_path));
        assert!(["1.0.0", "1.0.0-rc.1+x86-64"].into_iter().all(is_version));
        assert!(["^1", "*", ">=1.2, <2", "~0.3.1", "=1.0.0-rc.1"].into_iter().all(is_version_range));
        assert!(["rustc 1.95.0 (abc 2026-01-01)", "", "it's \"quoted\" \\"].into_iter().all(is_printable));
    }

    #[test]
    fn only_the_prefix_of_a_raw_identifier_is_removed() {
        assert_eq!(["r#type", "type", "r", "", "_r"].map(unraw), ["type", "type", "r", "", "_r"]);
    }

    #[test]
    fn a_member_path_is_a_type_path_and_an_identifier() {
        assert!(is_member_path("/Script/Game.Cube:OnHit"));
        for path in [
            "/Script/Game.Cube",
            "/Script/Game.Cube:",
            "Game.Cube:OnHit",
            "/Script/Game.Cube:On Hit",
            "/Script/Game.Cube:a:b",
        ] {
            assert!(!is_member_path(path), "{path}");
        }
    }

    #[test]
    fn each_text_has_a_longest_length() {
        let of = |count: usize| ["a"; 300][..count].concat();
        assert!(is_module_name(&of(64)) && !is_module_name(&of(65)));
        assert!(is_identifier(&of(255)) && !is_identifier(&of(256)));
        assert!(is_version(&of(64)) && !is_version(&of(65)));
        assert!(is_version_range(&of(256)) && !is_version_range(&of(257)));
        assert!(is_printable(&of(256)) && !is_printable(&of(257)));
    }

    #[test]
    fn an_excerpt_is_short_and_escaped() {
        assert_eq!(Excerpt::of("a\0b\u{1b}[2J\n").to_string(), r#""a\0b\u{1b}[2J\n""#);
        let long = Excerpt::of(&["é"; 100].concat()).to_string();
        assert!(long.ends_with("\"… (200 bytes)") && long.len() < 80, "{long}");
    }
}
