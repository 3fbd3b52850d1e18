//! Escapes foreign strings in messages. A string of a module may contain any character. The functions of this file escape terminal control
//! sequences, and characters that could forge a log line.

use std::borrow::Cow;

use alcedo_abi::names::shows_itself;

/// Maximum length in bytes of a foreign string in a message. Longer strings are truncated.
const MOST: usize = 160;

/// Escapes and truncates a name or other short string for use within one line of a message.
///
/// # Examples
/// ```
/// use alcedo_base::escape::line;
///
/// assert_eq!(line("Door\u{1b}[2J"), "Door\\u{1b}[2J");
/// assert!(line(&"x".repeat(500)).ends_with("… (500 bytes)"));
/// ```
pub fn line(string: &str) -> String {
    let end = string.floor_char_boundary(MOST);
    let mut escaped = escaped(&string[..end], shows_itself);
    if end < string.len() {
        escaped.push_str(&format!("… ({} bytes)", string.len()));
    }
    escaped
}

/// Escapes a multi-line string, such as a panic message, for output to a terminal. Escapes all invisible characters except line
/// breaks and tabs. Every plugin string that is printed to a terminal must be escaped by this function.
///
/// # Examples
/// ```
/// use alcedo_base::escape::printable;
///
/// assert_eq!(printable("first\nsecond"), "first\nsecond");
/// assert_eq!(printable("clears\u{1b}[2J"), "clears\\u{1b}[2J");
/// ```
pub fn printable(string: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| matches!(letter, '\n' | '\t') || shows_itself(letter);
    if string.chars().all(is_plain) {
        return string.into();
    }
    escaped(string, is_plain).into()
}

fn escaped(string: &str, is_plain: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(string.len() + 16);
    for letter in string.chars() {
        if is_plain(letter) { escaped.push(letter) } else { escaped.extend(letter.escape_debug()) }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{line, printable};

    #[test]
    fn terminal_control_characters_are_escaped() {
        for (string, escaped) in [
            ("plain, größer, 日本, it's \"so\" \\", "plain, größer, 日本, it's \"so\" \\"),
            ("two\n\tlines", "two\n\tlines"),
            ("e\u{301}", "e\u{301}"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("a\rb\0c", "a\\rb\\0c"),
            ("\u{9b}2J \u{202e}abc \u{200b}", "\\u{9b}2J \\u{202e}abc \\u{200b}"),
        ] {
            assert_eq!(printable(string), escaped);
        }
    }

    #[test]
    fn subjects_are_formatted_as_one_short_line() {
        assert_eq!(line("a \"b\" \\ c"), "a \"b\" \\ c");
        assert_eq!(line("a\nb\u{1b}\0"), "a\\nb\\u{1b}\\0");
        let long = line(&"ü\n".repeat(1000));
        assert!(long.ends_with("… (3000 bytes)") && long.len() < 400 && !long.contains('\n'), "{long}");
    }
}
