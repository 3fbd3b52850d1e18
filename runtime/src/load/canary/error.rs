//! What became of a canary, and at which step with a module.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a canary was doing with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanaryStep {
    /// Its initializers ran.
    Mapping,
    /// Its root module was compared, and it took its host.
    Attaching,
    /// It has sent what it declares.
    Registering,
}

impl CanaryStep {
    pub(super) const ALL: [Self; 3] = [Self::Mapping, Self::Attaching, Self::Registering];

    /// The number that stands for it in a message: its place in the list of all.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Mapping => 0,
            Self::Attaching => 1,
            Self::Registering => 2,
        }
    }

    /// The step of that number.
    pub(super) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Mapping => "mapping",
            Self::Attaching => "attaching",
            Self::Registering => "registering",
        }
    }
}

impl fmt::Display for CanaryStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of modules that a canary was to load first. The texts are those of [`LoadError`](crate::LoadError).
#[derive(Debug)]
pub(crate) enum CanaryError {
    /// The process ended.
    Crashed { module: String, step: CanaryStep, signal: Option<i32>, how: String, output: String },
    /// The process did not come to an end.
    Hung { module: String, step: CanaryStep, after: Duration, output: String },
    /// Something came from the process that it did not send.
    Disturbed { module: String, step: CanaryStep, problem: String, output: String },
    /// The process refused the module.
    Refused { module: String, step: CanaryStep, text: String },
    /// There is no such process.
    Unavailable { program: PathBuf, reason: String },
}
