//! What a person may ask of a running dev loop: keys on a terminal, lines on a pipe, and the same words for both.

/// One wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Build and reload now, in any mode.
    Reload,
    /// Build and reload when sources change.
    Automatic,
    /// Only note that sources change.
    Paused,
    /// Run the code of an earlier generation again.
    Back(u64),
    /// Say how things are.
    Status,
    /// Say which commands there are.
    Help,
    /// A number is being typed after `b`; what there is of it, or nothing when it was given up.
    Typing(Option<String>),
    /// End in order.
    Quit,
}

/// What `help` says.
pub(crate) const HELP: &str = "\
Keys on a terminal, or lines on a pipe:
  r    reload by hand: build and swap now
  a    automatic: build and swap whenever a source is saved (as it starts)
  p    paused: only note what is saved
  b N  back to the code of generation N
  s    status
  q    quit (so do Ctrl-C and the end of the input)";

/// The same in one line, for the start.
pub(crate) const KEYS: &str =
    "r reload · a automatic · p paused · b N back to generation N · s status · h help · q quit";

/// A line that is no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    /// No such word.
    #[error("`{line}` is no command: r reload · a automatic · p paused · b N back to generation N · s status · q quit")]
    Unknown {
        /// The line.
        line: String,
    },
    /// A generation is a number.
    #[error("`{text}` is no generation: write `b 3` to go back to the code of generation 3")]
    NoGeneration {
        /// What stands after `b`.
        text: String,
    },
}

/// Reads a line; an empty one asks nothing.
pub(crate) fn parse(line: &str) -> Result<Option<Command>, CommandError> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let command = match (word, rest.trim()) {
        ("", _) => return Ok(None),
        ("b" | "back", number) => match number.parse() {
            Ok(generation) => Command::Back(generation),
            Err(_) => return Err(CommandError::NoGeneration { text: number.to_owned() }),
        },
        ("r" | "reload", "") => Command::Reload,
        ("a" | "automatic", "") => Command::Automatic,
        ("p" | "paused", "") => Command::Paused,
        ("s" | "status", "") => Command::Status,
        ("h" | "help" | "?", "") => Command::Help,
        ("q" | "quit", "") => Command::Quit,
        _ => return Err(CommandError::Unknown { line: line.to_owned() }),
    };
    Ok(Some(command))
}

/// A key, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Backspace,
    Escape,
    Interrupt,
}

/// Keys so far. Only `b` needs more than one, since a number follows it.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    number: Option<String>,
}

impl Keys {
    /// What a key asks for; nothing if no command has it.
    pub(crate) fn press(&mut self, key: Key) -> Option<Command> {
        match (key, self.number.take()) {
            (Key::Interrupt, _) => Some(Command::Quit),
            (Key::Char('b'), None) => self.type_on(String::new()),
            (Key::Char(' '), Some(number)) => self.type_on(number),
            (Key::Char(digit), Some(number)) if digit.is_ascii_digit() => self.type_on(format!("{number}{digit}")),
            (Key::Backspace, Some(mut number)) if !number.is_empty() => {
                number.pop();
                self.type_on(number)
            }
            (Key::Enter, Some(number)) => {
                number.parse().map_or(Some(Command::Typing(None)), |n| Some(Command::Back(n)))
            }
            (_, Some(_)) => Some(Command::Typing(None)),
            (Key::Char(letter), None) => parse(letter.encode_utf8(&mut [0; 4])).ok().flatten(),
            (Key::Enter | Key::Backspace | Key::Escape, None) => None,
        }
    }

    fn type_on(&mut self, number: String) -> Option<Command> {
        self.number = Some(number.clone());
        Some(Command::Typing(Some(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Key, Keys, parse};

    #[test]
    fn a_line_is_a_letter_or_its_word() {
        let check = |line: &str, expected: Option<Command>| assert_eq!(parse(line).unwrap(), expected, "{line}");
        check("", None);
        check("  \t", None);
        check("r", Some(Command::Reload));
        check(" reload ", Some(Command::Reload));
        check("a", Some(Command::Automatic));
        check("p", Some(Command::Paused));
        check("b 12", Some(Command::Back(12)));
        check("back   3", Some(Command::Back(3)));
        check("s", Some(Command::Status));
        check("?", Some(Command::Help));
        check("quit", Some(Command::Quit));
    }

    #[test]
    fn a_line_that_is_none_is_told_what_there_is() {
        let check = |line: &str, expected: &str| {
            let text = parse(line).unwrap_err().to_string();
            assert!(text.starts_with(expected), "{line}: {text}");
        };
        check("x", "`x` is no command: r reload");
        check("r now", "`r now` is no command");
        check("b", "`` is no generation: write `b 3`");
        check("b -1", "`-1` is no generation");
    }

    /// Presses the keys of `text`, where `⏎`, `⌫`, `⎋` and `^` stand for enter, backspace, escape and Ctrl-C.
    fn check(text: &str, expected: &[Option<Command>]) {
        let mut keys = Keys::default();
        let pressed: Vec<_> = text
            .chars()
            .map(|key| match key {
                '⏎' => Key::Enter,
                '⌫' => Key::Backspace,
                '⎋' => Key::Escape,
                '^' => Key::Interrupt,
                other => Key::Char(other),
            })
            .map(|key| keys.press(key))
            .collect();
        assert_eq!(pressed, expected, "{text}");
    }

    #[test]
    fn a_key_acts_at_once() {
        check("rx⏎q", &[Some(Command::Reload), None, None, Some(Command::Quit)]);
    }

    #[test]
    fn a_number_is_typed_until_enter() {
        let typing = |text: &str| Some(Command::Typing(Some(text.into())));
        check(
            "b13⌫2⏎r",
            &[
                typing(""),
                typing("1"),
                typing("13"),
                typing("1"),
                typing("12"),
                Some(Command::Back(12)),
                Some(Command::Reload),
            ],
        );
    }

    #[test]
    fn a_number_is_given_up_by_any_other_key_which_then_asks_nothing() {
        let (typing, none) = (Some(Command::Typing(Some(String::new()))), Some(Command::Typing(None)));
        check("br", &[typing.clone(), none.clone()]);
        check("b⎋", &[typing.clone(), none.clone()]);
        check("b⌫", &[typing.clone(), none.clone()]);
        check("b⏎", &[typing.clone(), none]);
        check("b^", &[typing, Some(Command::Quit)]);
    }
}
