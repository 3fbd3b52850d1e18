//! Colors for terminals. Output to a pipe or a file is plain text.

use std::env;
use std::io::{IsTerminal, stdout};
use std::process::Command;

/// Environment variable with which `alcedo` enables colors in a child process.
const COLOR: &str = "ALCEDO_COLOR";

use alcedo_runtime::printable;

/// Adds colors to strings, if enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Enables colors if standard output is a terminal and NO_COLOR is unset.
    pub(crate) fn for_stdout() -> Self {
        Self { on: stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// Enables colors in a child process of `alcedo` if the parent has requested colors.
    pub(crate) fn for_child() -> Self {
        Self { on: env::var_os(COLOR).is_some() }
    }

    /// Passes the color setting to a child process whose output `alcedo` prints.
    pub(crate) fn pass_on(self, command: &mut Command) {
        match self.on {
            true => command.env(COLOR, "1"),
            false => command.env_remove(COLOR),
        };
    }

    pub(crate) fn off() -> Self {
        Self { on: false }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Escapes a string for a terminal. Keeps color sequences. Escapes all remaining control sequences, because messages from plugins may
/// contain any bytes.
pub(crate) fn for_terminal(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut escaped = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let (color, behind) = part.split_at(color_len(part));
        escaped += if color.is_empty() { "\\u{1b}" } else { "\x1b" };
        escaped += color;
        escaped += &printable(behind);
    }
    escaped
}

/// Returns the length of the color sequence at the start of a string, without its escape character. Returns zero if the string does not
/// start with a color sequence. Sequences that hide characters do not count as colors.
fn color_len(text: &str) -> usize {
    let Some((code, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once('m')) else { return 0 };
    // Includes the bright colors that the compiler uses.
    let is_color = matches!(code, "0" | "1" | "2" | "3" | "4" | "31" | "32" | "33" | "34" | "35" | "36")
        || matches!(code, "91" | "92" | "93" | "94" | "95" | "96");
    if is_color { "[m".len() + code.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{Paint, for_terminal};

    #[test]
    fn colors_pass_and_nothing_else_that_a_terminal_obeys() {
        let red = Paint { on: true }.red("no");
        for (text, escaped) in [
            (red.as_str(), red.as_str()),
            ("\x1b[1m\x1b[91merror[E0308]\x1b[0m", "\x1b[1m\x1b[91merror[E0308]\x1b[0m"),
            ("\x1b[2J\x1b]0;owned\x07", "\\u{1b}[2J\\u{1b}]0;owned\\u{7}"),
            ("\x1b[8mhidden\x1b[0m", "\\u{1b}[8mhidden\x1b[0m"),
            ("\x1b\x1b[31", "\\u{1b}\\u{1b}[31"),
            ("two\n\tlines\rover", "two\n\tlines\\rover"),
        ] {
            assert_eq!(for_terminal(text), escaped);
        }
    }
}
