//! Colors, for terminals only: a pipe or a file gets the bare words.

use std::env;
use std::io::{IsTerminal, stdout};

/// Whether to paint at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// As standard output and the user's NO_COLOR say.
    pub(crate) fn for_stdout() -> Self {
        Self { on: stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// The bare words.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self { on: false }
    }

    /// Whether there are colors.
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
