//! For consoles, where a line of script is typed: whether it is a value, statements, or goes on; and how a word may end.

use alcedo_reflect::types::Types;

use crate::check::{Options, complete_in};
use crate::diagnostic::Diagnostic;
use crate::parse::{parse_statements, parse_value};
use crate::source::Source;
use crate::token::{Kind, Tokens};

/// What a text is that was typed.
#[derive(Clone, Debug)]
pub enum Snippet {
    /// An expression, with or without a semicolon behind it.
    Value,
    /// Statements.
    Statements,
    /// A brace, parenthesis or bracket is still open: more lines are to come.
    Unfinished,
    /// None of these: the messages of the reading as statements, about file 0.
    Wrong(Vec<Diagnostic>),
}

/// What a text is, by its syntax alone. A value goes into `function string Run() { return string(…); }` of a class, statements into
/// `function Run() { … }`; the class is then checked as any other.
pub fn snippet(source: &Source) -> Snippet {
    if is_open(&source.text) {
        return Snippet::Unfinished;
    }
    if parse_value(source) {
        return Snippet::Value;
    }
    let messages = parse_statements(source);
    if messages.iter().any(Diagnostic::is_error) { Snippet::Wrong(messages) } else { Snippet::Statements }
}

fn is_open(text: &str) -> bool {
    let (mut tokens, mut depth) = (Tokens::new(text), 0_i64);
    loop {
        match tokens.next().kind {
            Kind::ParenOpen | Kind::BracketOpen | Kind::BraceOpen => depth += 1,
            Kind::ParenClose | Kind::BracketClose | Kind::BraceClose => depth -= 1,
            Kind::End => return depth > 0 || tokens.open_comment.is_some(),
            _ => {}
        }
    }
}

/// The names that the last word of a text may become, in order: after a dot, members of the value before it; otherwise members of the
/// class of that path, and functions of libraries. Game thread only.
pub fn complete(text: &str, class: &str, types: &Types, options: &Options) -> Vec<String> {
    let word_start = text
        .rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let (before, word) = text.split_at(word_start);
    let value = before.trim_end().strip_suffix('.').map(value_before);
    let names = complete_in(value, class, types, options);
    let word = word.to_ascii_lowercase();
    names.into_iter().filter(|name| name.to_ascii_lowercase().starts_with(&word)).collect()
}

/// The value that ends where the text ends: words, dots and what stands in parentheses and brackets.
fn value_before(text: &str) -> &str {
    let mut depth = 0_u32;
    let mut start = text.len();
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '.' | '_' | '\'' => {}
            letter if letter.is_ascii_alphanumeric() => {}
            _ => break,
        }
        start = at;
    }
    &text[start..]
}
