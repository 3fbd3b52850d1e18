//! Stub of `runtime/src/reload`: the tool reads reload reports from its own host, and their many types are not fuzzed.

pub(crate) mod report {
    use serde::{Deserialize, Serialize};

    /// Stub of the report.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ReloadReport {
        generation: u64,
        problems: Vec<String>,
    }
}
