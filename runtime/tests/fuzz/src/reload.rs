//! Stands in for `runtime/src/reload`: the tool reads the report of a reload from its own host, and its many types are not fuzzed.

pub(crate) mod report {
    use serde::{Deserialize, Serialize};

    /// In place of the report.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Reload {
        generation: u64,
        problems: Vec<String>,
    }
}
