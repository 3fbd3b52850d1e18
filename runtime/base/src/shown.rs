//! Texts of others in the host's own sentences. A module's texts may hold anything; what a terminal would obey, or what
//! would begin a line of a log that the host never wrote, is shown escaped.

use std::borrow::Cow;

use alcedo_abi::names::shows_itself;

/// So much of a text stands in a sentence about it.
const MOST: usize = 160;

/// A text on one line, escaped, and cut where it is long: for names and other texts that a sentence is about.
pub fn line(text: &str) -> String {
    let end = text.floor_char_boundary(MOST);
    let mut shown = String::with_capacity(end);
    for letter in text[..end].chars() {
        match shows_itself(letter) {
            true => shown.push(letter),
            false => shown.extend(letter.escape_debug()),
        }
    }
    if end < text.len() {
        shown.push_str(&format!("… ({} bytes)", text.len()));
    }
    shown
}

/// A text of several lines, such as the message of a panic, as a terminal may print it: everything but line breaks and
/// tabs that does not show itself is escaped. Use it for every text of a plugin that is printed to a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| matches!(letter, '\n' | '\t') || shows_itself(letter);
    if text.chars().all(is_plain) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_plain(letter) {
            true => shown.push(letter),
            false => shown.extend(letter.escape_debug()),
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::{line, printable};

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        for (text, shown) in [
            ("plain, größer, 日本, it's \"so\" \\", "plain, größer, 日本, it's \"so\" \\"),
            ("two\n\tlines", "two\n\tlines"),
            ("e\u{301}", "e\u{301}"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("a\rb\0c", "a\\rb\\0c"),
            ("\u{9b}2J \u{202e}abc \u{200b}", "\\u{9b}2J \\u{202e}abc \\u{200b}"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn what_a_sentence_is_about_is_one_short_line() {
        assert_eq!(line("a \"b\" \\ c"), "a \"b\" \\ c");
        assert_eq!(line("a\nb\u{1b}\0"), "a\\nb\\u{1b}\\0");
        let long = line(&"ü\n".repeat(1000));
        assert!(long.ends_with("… (3000 bytes)") && long.len() < 400 && !long.contains('\n'), "{long}");
    }
}
