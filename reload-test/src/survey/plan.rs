//! Plan and messages of the host of a row, exchanged between the processes.

use super::fault_injection::InjectedFault;
use crate::plan::Reading;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImageState {
    #[default]
    Unmapped,
    /// Stays mapped, because code of it could still run.
    Parked,
}

/// Growth per reload, over the last half of the reloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) memory_kib: f64,
    pub(crate) threads: f64,
    pub(crate) fds: f64,
    pub(crate) keys: f64,
}

/// Mode of reloading a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReloadMode {
    /// The next build of the same plugin replaces it.
    OntoItself,
    /// The neighbor replaces it temporarily, then the plugin is loaded again.
    Alternating,
    /// Like `OntoItself`, but threads that do not end are evicted, and files are closed.
    Evicting,
    EvictingAlternating,
}

impl ReloadMode {
    /// Returns true if threads are evicted and files closed.
    pub(crate) fn evicts(self) -> bool {
        matches!(self, ReloadMode::Evicting | ReloadMode::EvictingAlternating)
    }

    /// Returns true if the neighbor is loaded in between.
    pub(crate) fn alternates(self) -> bool {
        matches!(self, ReloadMode::Alternating | ReloadMode::EvictingAlternating)
    }

    /// Returns the text after the name of a row in a sentence.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            ReloadMode::OntoItself => "",
            ReloadMode::Alternating => ", alternating",
            ReloadMode::Evicting => ", with eviction",
            ReloadMode::EvictingAlternating => ", alternating, with eviction",
        }
    }
}

/// Plan for the host of a row.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) libraries: Vec<PathBuf>,
    /// Plugin that is loaded in between, if the mode alternates.
    pub(crate) neighbor: PathBuf,
    pub(crate) mode: ReloadMode,
    pub(crate) reloads: u64,
    /// Expected outcome of each image.
    pub(crate) expected_state: ImageState,
    /// Time that the neighbor is loaded, in milliseconds.
    pub(crate) strikes_after_ms: u64,
    pub(crate) injected_fault: Option<InjectedFault>,
}

/// Progress of the host within a reload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// The plugin is loaded and has worked, and the previous one is unmapped or parked.
    #[default]
    Done,
    /// The neighbor is loaded, and the plugin is unmapped or parked.
    Away,
    /// The runtime has ended; only exit handlers remain.
    Ended,
}

/// Message of the host after each step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Completed reloads; zero before the first.
    pub(crate) reload: u64,
    pub(crate) step: Step,
    /// Measurements of the process.
    pub(crate) process: Reading,
    /// Holders of the previous generation, if it is parked.
    pub(crate) parked: Vec<String>,
    pub(crate) fault: Option<String>,
}
