//! Script input of consoles: classifies typed text, and completes names.

use alcedo_reflect::types::Types;

use crate::check::{Options, complete_in};
use crate::diagnostic::Diagnostic;
use crate::parse::{parse_statements, parse_value};
use crate::source::Source;
use crate::token::{Kind, Tokens};

/// Kind of typed text.
///
/// # Examples
/// ```
/// use alcedo_uc::{Snippet, Source, snippet};
///
/// match snippet(&Source::new("console", "Health = ;")) {
///     Snippet::Invalid(messages) => assert!(messages[0].is_error()),
///     other => panic!("unexpected: {other:?}"),
/// }
/// ```
#[derive(Clone, Debug)]
pub enum Snippet {
    /// An expression, with an optional semicolon.
    Value,
    /// Statements.
    Statements,
    /// Text with an open brace, parenthesis or bracket. The console expects further lines.
    Unfinished,
    /// Neither a value nor statements. Contains the messages from parsing the text as statements. The messages refer to file 0.
    Invalid(Vec<Diagnostic>),
}

/// Classifies typed text by its syntax. A console can run a value by compiling `function string Run() { return string(…); }` in a class. A
/// console can run statements by compiling `function Run() { … }`. The checker applies its usual rules to this class.
///
/// # Examples
/// ```
/// use alcedo_uc::{Snippet, Source, snippet};
///
/// assert!(matches!(snippet(&Source::new("console", "Health + 3")), Snippet::Value));
/// assert!(matches!(snippet(&Source::new("console", "Health = 3;")), Snippet::Statements));
/// assert!(matches!(snippet(&Source::new("console", "if (Health > 3) {")), Snippet::Unfinished));
/// ```
pub fn snippet(source: &Source) -> Snippet {
    if is_open(&source.text) {
        return Snippet::Unfinished;
    }
    if parse_value(source) {
        return Snippet::Value;
    }
    let messages = parse_statements(source);
    if messages.iter().any(Diagnostic::is_error) { Snippet::Invalid(messages) } else { Snippet::Statements }
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

/// Returns the sorted completions of the last identifier in a text. After a dot, completes members of the value before the dot. In all
/// other positions, completes members of the class, and library functions. Must be called on the game thread.
pub fn complete(text: &str, class: &str, types: &Types, options: &Options) -> Vec<String> {
    let before = text.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    let word = text[before.len()..].to_ascii_lowercase();
    let value = before.trim_end().strip_suffix('.').map(value_before);
    let names = complete_in(value, class, types, options);
    names.into_iter().filter(|name| name.to_ascii_lowercase().starts_with(&word)).collect()
}

/// Returns the expression at the end of the text. Such an expression consists of identifiers, dots, and the contents of parentheses and
/// brackets.
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
