//! Scanner that the parsers of all kinds share. Errors contain the invalid section of the text.

use std::collections::HashSet;
use std::str::CharIndices;

use super::{ParseError, fail};
use crate::names::Names;
use crate::property::PropertyType;
use crate::value::Value;

/// Description of the escapes in a quoted string, for errors.
const ESCAPES: &str = r#"after \ there may be " \ n r t 0 or u with the number of a letter, as in \u{7f}"#;

/// Reads a hexadecimal number in braces. Returns the character with this number.
fn by_number(letters: &mut CharIndices<'_>) -> Option<char> {
    letters.next().filter(|(_, letter)| *letter == '{')?;
    let mut number = 0_u32;
    loop {
        match letters.next()?.1 {
            '}' => return char::from_u32(number),
            digit => number = number.checked_mul(16)? + digit.to_digit(16)?,
        }
    }
}

/// Scanner of a text that is parsed from left to right.
pub(crate) struct Scanner<'a> {
    /// Remaining text.
    pub(crate) rest: &'a str,
    /// Table for interning names.
    pub(crate) names: &'a Names,
}

impl<'a> Scanner<'a> {
    /// Parses `(a, b, c)`.
    pub(crate) fn list<T>(
        &mut self,
        ty: &PropertyType,
        mut one: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.expect("(", ty, "it does not start with (; write (a, b)")?;
        let mut found = Vec::new();
        while !self.take(")") {
            if !found.is_empty() {
                self.expect(",", ty, "a comma or ) is missing")?;
            }
            found.push(one(self)?);
        }
        Ok(found)
    }

    /// Checks that the keys of a set or map are unique.
    pub(crate) fn check_keys<'v>(
        &self,
        ty: &PropertyType,
        keys: impl Iterator<Item = &'v Value>,
    ) -> Result<(), ParseError> {
        let mut seen = HashSet::new();
        for key in keys {
            if !seen.insert(key) {
                return Err(fail(&key.print(self.names), ty, "it occurs twice"));
            }
        }
        Ok(())
    }

    /// Reads the text before the next `letter`, and consumes the text and the character. Returns the text without surrounding spaces.
    /// Returns `None` if the remaining text does not contain the character.
    pub(crate) fn up_to(&mut self, letter: char) -> Option<&'a str> {
        let found = self.split(self.rest.find(letter)?).trim();
        self.rest = &self.rest[letter.len_utf8()..];
        Some(found)
    }

    /// Reads a string up to the closing quote. The caller has already consumed the opening quote.
    pub(crate) fn quoted(&mut self, ty: &PropertyType) -> Result<String, ParseError> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, '0')) => text.push('\0'),
                    Some((_, 'u')) => {
                        text.push(by_number(&mut letters).ok_or_else(|| fail(&self.rest[at..], ty, ESCAPES))?)
                    }
                    Some((_, same @ ('"' | '\\'))) => text.push(same),
                    _ => return Err(fail(&self.rest[at..], ty, ESCAPES)),
                },
                letter => text.push(letter),
            }
        }
        Err(fail(self.rest, ty, "the closing quote is missing"))
    }

    /// Reads the text before the next comma or closing parenthesis. Returns the text without surrounding spaces.
    pub(crate) fn word(&mut self) -> &'a str {
        self.word_up_to([',', ')'])
    }

    /// Reads the text before the first character in `ends`. Returns the text without surrounding spaces.
    pub(crate) fn word_up_to<const N: usize>(&mut self, ends: [char; N]) -> &'a str {
        self.split(self.rest.find(ends).unwrap_or(self.rest.len())).trim()
    }

    /// Skips leading spaces and consumes `token`. If the text does not continue with `token`, returns `false` and consumes nothing.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Consumes `token` or fails with `problem`.
    pub(crate) fn expect(&mut self, token: &str, ty: &PropertyType, problem: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(fail(self.rest, ty, problem)) }
    }

    fn split(&mut self, end: usize) -> &'a str {
        let (head, rest) = self.rest.split_at(end);
        self.rest = rest;
        head
    }
}
