//! Phase of the time from a saved file to live code.

use serde::Serialize;

/// A named phase with its duration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) ms: f64,
    /// Subphases, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Part>,
}

impl Part {
    pub(crate) fn new(name: impl Into<String>, ms: f64) -> Self {
        Self { name: name.into(), ms, parts: Vec::new() }
    }
}
