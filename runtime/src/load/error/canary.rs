//! The steps of a canary with a module, as errors name them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The step of a canary with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CanaryStep {
    /// Runs its initializers.
    Mapping,
    /// Compares its root module, and attaches the host.
    Attaching,
    /// Reads its declarations.
    Registering,
}

impl CanaryStep {
    /// In the order in which they are taken.
    pub(in crate::load) const ALL: [Self; 3] = [Self::Mapping, Self::Attaching, Self::Registering];
}

impl fmt::Display for CanaryStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mapping => "mapping",
            Self::Attaching => "attaching",
            Self::Registering => "registering",
        })
    }
}
