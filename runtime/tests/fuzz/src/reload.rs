//! Stub of `runtime/src/reload`. The command `alcedo dev` reads reload reports only from its own host, so the many types in a report are
//! not fuzzed.

pub(crate) mod report {
    use serde::{Deserialize, Serialize};

    /// Stub of the report.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ReloadReport {
        generation: u64,
        problems: Vec<String>,
    }
}
