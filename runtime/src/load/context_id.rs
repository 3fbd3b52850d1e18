//! Kinds, ids and titles of load contexts.

use std::fmt;

use serde::Serialize;

named! {
    /// Kind of a load context.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextKind, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// assert_eq!(reports.kind(), ContextKind::Slim);
    /// assert_eq!(runtime.contexts().default_context().kind().to_string(), "Default");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ContextKind {
        /// The host's executable, and modules that all contexts share. Never unloaded.
        Default = "Default",
        /// Modules with classes, which reloads replace. Game thread only.
        Master = "Master",
        /// Named context without classes, for any thread.
        Slim = "Slim",
        /// Named context without classes, for any thread. Never unloaded.
        Pinned = "Pinned",
    }
}

impl ContextKind {
    /// Checks if contexts of this kind can be unloaded.
    pub(crate) fn is_collectible(self) -> bool {
        match self {
            Self::Master | Self::Slim => true,
            Self::Default | Self::Pinned => false,
        }
    }

    /// Returns the kind with an article.
    pub(crate) fn any(self) -> &'static str {
        match self {
            Self::Default => "a Default",
            Self::Master => "a Master",
            Self::Slim => "a Slim",
            Self::Pinned => "a pinned context",
        }
    }
}

/// Id of one generation of a load context. The id is unique in a runtime, even if the name of the context is used again.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextId, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// assert_eq!(runtime.contexts().default_context().id(), Some(ContextId::DEFAULT));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub struct ContextId {
    /// Index of the context. 0 is the Default, and 1 is the Master. Slims and pinned contexts have indices from 2.
    pub index: u64,
    /// Number of the generation, starting at 1. Increased by each reload of the Master and by each replacement of a Slim.
    pub generation: u64,
}

impl ContextId {
    /// Id of the Default load context.
    pub const DEFAULT: Self = Self { index: 0, generation: 1 };

    /// Returns the id of a generation of the Master.
    pub(crate) fn master(generation: u64) -> Self {
        Self { index: 1, generation }
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} generation {}", self.index, self.generation)
    }
}

/// Returns the name of a context for errors and reports.
pub(crate) fn title(kind: ContextKind, name: &str) -> String {
    match kind {
        ContextKind::Slim | ContextKind::Pinned => format!("{kind} \"{name}\""),
        single => single.to_string(),
    }
}
