//! Which load context is meant: its sort, its number, and how errors and reports name it.

use std::fmt;

use serde::Serialize;

/// What sort of load context it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// The host's executable and the contract modules that all share; never unloaded.
    Default,
    /// The modules with classes, replaced by reloads; game thread only.
    Master,
    /// Named, without classes, for any thread.
    Slim,
    /// Named like a Slim, and never unloaded like the Default.
    Pinned,
}

impl ContextKind {
    /// Whether contexts of this sort may be unloaded.
    pub(crate) fn is_collectible(self) -> bool {
        match self {
            Self::Master | Self::Slim => true,
            Self::Default | Self::Pinned => false,
        }
    }

    /// The sort in a sentence about any of them.
    pub(crate) fn any(self) -> &'static str {
        match self {
            Self::Default => "a Default",
            Self::Master => "a Master",
            Self::Slim => "a Slim",
            Self::Pinned => "a pinned context",
        }
    }
}

impl fmt::Display for ContextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "Default",
            Self::Master => "Master",
            Self::Slim => "Slim",
            Self::Pinned => "Pinned",
        })
    }
}

/// One generation of one load context. Never given twice by a runtime, also where a name is used again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub struct ContextId {
    /// The context: 0 is the Default, 1 the Master, Slims and pinned ones count from 2.
    pub index: u64,
    /// Its generation: counts the reloads of the Master and the replacements of a Slim, from 1.
    pub generation: u64,
}

impl ContextId {
    /// The Default load context.
    pub const DEFAULT: Self = Self { index: 0, generation: 1 };

    /// A generation of the Master.
    pub(crate) fn master(generation: u64) -> Self {
        Self { index: 1, generation }
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} generation {}", self.index, self.generation)
    }
}

/// How errors and reports name a context.
pub(crate) fn title(kind: ContextKind, name: &str) -> String {
    match kind {
        ContextKind::Slim | ContextKind::Pinned => format!("{kind} \"{name}\""),
        single => single.to_string(),
    }
}
