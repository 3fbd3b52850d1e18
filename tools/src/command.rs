//! Parses the user's commands during `alcedo dev`: keys on a terminal, or lines on a pipe.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Build and reload now, whether automatic builds are on or paused.
    Reload,
    /// Build and reload when sources change.
    Automatic,
    /// Record changes to sources without building.
    Paused,
    /// Run the code of an earlier generation again.
    Back(u64),
    /// Print the backtrace of the last panic or crash.
    Trace,
    /// Print the stored output of the world.
    Output,
    Status,
    Help,
    /// Kill the world's process and restart it with the last good build.
    Restart,
    /// Execute this line in the console of the world.
    Line(String),
    /// Complete this line for the console.
    Complete(String),
    /// Show [`Keys::typed`], which a key has changed without completing a command.
    Typing,
    /// End the session normally.
    Quit,
}

/// Input in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The digits that were typed after `b`.
    Number(String),
    /// The text that was typed after `:`.
    Line(String),
}

impl Typed {
    /// Removes the last character. Returns `None` if the input is empty.
    fn shorter(self) -> Option<Self> {
        let cut = |mut text: String| text.pop().map(|_| text);
        match self {
            Self::Number(text) => cut(text).map(Self::Number),
            Self::Line(text) => cut(text).map(Self::Line),
        }
    }
}

pub(crate) const HELP: &str = "\
Keys on a terminal, or lines on a pipe:
  r    reload by hand: build and swap now
  a    automatic: build and swap whenever a source is saved (as it starts)
  p    paused: only note what is saved
  b N  back to the code of generation N
  k    end the world's process and restart it with the last good build and the saved world;
       a host whose sources changed is built first
  :…   query the world: `:help` lists the queries; Tab completes, Up brings the last line back
  t    the calls that led to the last panic or crash of a plugin, those of the plugin first
  o    print what the world has printed so far, of which the pane shows the end
  s    status
  q    quit (so do Ctrl-C and the end of the input)";

/// Summary of the keys in one line of at most 80 columns, printed at the start of the session.
pub(crate) const KEYS: &str = "r reload · b N back · k restart · : ask · t trace · o output · h help · q quit";

/// Parses a line. Returns `None` for an empty line.
pub(crate) fn parse(line: &str) -> Result<Option<Command>, String> {
    let line = line.trim();
    if let Some(line) = line.strip_prefix(':') {
        return Ok(Some(Command::Line(line.trim().to_owned())));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let command = match (word, rest.trim()) {
        ("", _) => return Ok(None),
        ("b" | "back", number) => Command::Back(number.parse().map_err(|_| {
            format!("`{number}` is not a generation: write `b 3` to go back to the code of generation 3")
        })?),
        ("r" | "reload", "") => Command::Reload,
        ("a" | "automatic", "") => Command::Automatic,
        ("p" | "paused", "") => Command::Paused,
        ("k" | "restart", "") => Command::Restart,
        ("t" | "trace", "") => Command::Trace,
        ("o" | "output", "") => Command::Output,
        ("s" | "status", "") => Command::Status,
        ("h" | "help" | "?", "") => Command::Help,
        ("q" | "quit", "") => Command::Quit,
        _ => {
            return Err(format!(
                "`{line}` is not a command: r reload · a automatic · p paused · b N back to generation N · k restart · :… query the world · t trace · o output · s status · q quit"
            ));
        }
    };
    Ok(Some(command))
}

/// State of the keyboard input. Only `b` and `:` start input of more than one key: a number, or a line.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// Input of a command that needs more than one key.
    pub(crate) typed: Option<Typed>,
    /// The previous line.
    last: String,
}

impl Keys {
    /// Returns the command that a key completes. Returns `None` if the key completes no command.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Option<Command> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_handled = match key.code {
            KeyCode::Char(letter) => !is_control || letter == 'c',
            code => matches!(code, KeyCode::Enter | KeyCode::Backspace | KeyCode::Esc | KeyCode::Tab | KeyCode::Up),
        };
        if !is_handled || key.kind == KeyEventKind::Release {
            return None;
        }
        match (key.code, self.typed.take()) {
            (KeyCode::Char('c'), _) if is_control => Some(Command::Quit),
            (KeyCode::Char('b'), None) => self.type_on(Some(Typed::Number(String::new()))),
            (KeyCode::Char(':'), None) => self.type_on(Some(Typed::Line(String::new()))),
            (KeyCode::Char(letter), None) => parse(letter.encode_utf8(&mut [0; 4])).ok().flatten(),
            (_, None) => None,
            (KeyCode::Backspace, Some(typed)) => self.type_on(typed.shorter()),
            (KeyCode::Char(' '), Some(Typed::Number(number))) => self.type_on(Some(Typed::Number(number))),
            (KeyCode::Char(digit), Some(Typed::Number(number))) if digit.is_ascii_digit() => {
                self.type_on(Some(Typed::Number(format!("{number}{digit}"))))
            }
            (KeyCode::Enter, Some(Typed::Number(number))) => {
                Some(number.parse().map_or(Command::Typing, Command::Back))
            }
            (KeyCode::Char(letter), Some(Typed::Line(line))) => {
                self.type_on(Some(Typed::Line(format!("{line}{letter}"))))
            }
            (KeyCode::Up, Some(Typed::Line(_))) => self.type_on(Some(Typed::Line(self.last.clone()))),
            (KeyCode::Tab, Some(Typed::Line(line))) => {
                self.typed = Some(Typed::Line(line.clone()));
                Some(Command::Complete(line))
            }
            (KeyCode::Enter, Some(Typed::Line(line))) if !line.trim().is_empty() => {
                self.last.clone_from(&line);
                Some(Command::Line(line.trim().to_owned()))
            }
            (_, Some(_)) => self.type_on(None),
        }
    }

    /// Replaces the typed line `line` by its completion `longer`, if the user has not changed the line since the completion was requested.
    pub(crate) fn extend_line(&mut self, line: &str, longer: &str) {
        if self.typed == Some(Typed::Line(line.to_owned())) {
            self.typed = Some(Typed::Line(longer.to_owned()));
        }
    }

    fn type_on(&mut self, typed: Option<Typed>) -> Option<Command> {
        self.typed = typed;
        Some(Command::Typing)
    }
}

#[cfg(test)]
mod tests {
    use rustyline::completion::longest_common_prefix;

    use super::{Command, KeyCode, KeyEvent, KeyModifiers, Keys, Typed, parse};

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
        check("t", Some(Command::Trace));
        check("quit", Some(Command::Quit));
        check("k", Some(Command::Restart));
        check(": get Cube_1 label", Some(Command::Line("get Cube_1 label".into())));
    }

    #[test]
    fn an_unknown_line_gets_the_list_of_commands() {
        let check = |line: &str, expected: &str| {
            let text = parse(line).unwrap_err();
            assert!(text.starts_with(expected), "{line}: {text}");
        };
        check("x", "`x` is not a command: r reload");
        check("r now", "`r now` is not a command");
        check("b", "`` is not a generation: write `b 3`");
        check("b -1", "`-1` is not a generation");
    }

    /// Presses each key of `text`, in which `⏎`, `⌫`, `⎋`, `⇥`, `↑` and `^` represent enter, backspace, escape, tab, up and Ctrl-C. The
    /// error is the input after a key that completed no command.
    fn check(text: &str, expected: &[Result<Option<Command>, Option<Typed>>]) {
        let mut keys = Keys::default();
        let pressed: Vec<_> = text
            .chars()
            .map(|key| match key {
                '⏎' => KeyCode::Enter.into(),
                '⌫' => KeyCode::Backspace.into(),
                '⎋' => KeyCode::Esc.into(),
                '⇥' => KeyCode::Tab.into(),
                '↑' => KeyCode::Up.into(),
                '^' => KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
                other => KeyCode::Char(other).into(),
            })
            .map(|key| match keys.press(key) {
                Some(Command::Typing) => Err(keys.typed.clone()),
                command => Ok(command),
            })
            .collect();
        assert_eq!(pressed, expected, "{text}");
    }

    #[test]
    fn a_key_acts_at_once() {
        check("rx⏎q", &[Ok(Some(Command::Reload)), Ok(None), Ok(None), Ok(Some(Command::Quit))]);
    }

    #[test]
    fn a_number_is_typed_until_enter() {
        let typing = |text: &str| Err(Some(Typed::Number(text.into())));
        check(
            "b13⌫2⏎r",
            &[
                typing(""),
                typing("1"),
                typing("13"),
                typing("1"),
                typing("12"),
                Ok(Some(Command::Back(12))),
                Ok(Some(Command::Reload)),
            ],
        );
    }

    #[test]
    fn any_other_key_cancels_a_number_without_a_command() {
        let (typing, none) = (Err(Some(Typed::Number(String::new()))), Err(None));
        check("br", &[typing.clone(), none.clone()]);
        check("b⎋", &[typing.clone(), none.clone()]);
        check("b⌫", &[typing.clone(), none.clone()]);
        check("b⏎", &[typing.clone(), none]);
        check("b^", &[typing, Ok(Some(Command::Quit))]);
    }

    #[test]
    fn a_line_is_typed_completed_sent_and_brought_back() {
        let typing = |text: &str| Err(Some(Typed::Line(text.into())));
        check(
            ":g b⇥⏎:↑",
            &[
                typing(""),
                typing("g"),
                typing("g "),
                typing("g b"),
                Ok(Some(Command::Complete("g b".into()))),
                Ok(Some(Command::Line("g b".into()))),
                typing(""),
                typing("g b"),
            ],
        );
        let mut keys = Keys::default();
        keys.press(KeyCode::Char(':').into());
        keys.press(KeyCode::Char('g').into());
        keys.extend_line("x", "xy");
        assert_eq!(keys.typed, Some(Typed::Line("g".into())), "something else is typed by now");
        keys.extend_line("g", "get ");
        assert_eq!(keys.typed, Some(Typed::Line("get ".into())));
        assert_eq!(keys.press(KeyCode::Enter.into()), Some(Command::Line("get".into())));
    }

    #[test]
    fn lines_have_a_common_start() {
        let check = |lines: &[&str], expected: &str| {
            let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(longest_common_prefix(&lines).unwrap_or_default(), expected, "{lines:?}");
        };
        check(&[], "");
        check(&["get Cube_1"], "get Cube_1");
        check(&["get Cube_1", "get Cube_12", "get Cuba"], "get Cub");
        check(&["é1", "è1"], "");
    }
}
