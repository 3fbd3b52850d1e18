//! Messages between the survey and the host process for one row of its table: the plan for the host, and the progress of the host.

use crate::plan::Reading;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImageState {
    #[default]
    Unmapped,
    /// The image stays mapped, because its code could still run.
    Parked,
}

/// Fault that a host injects into itself as soon as the previous image is unmapped, to test the detection in each mode of reloading. Each
/// fault simulates an operation that a plugin has started and that outlives the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub(crate) enum InjectedFault {
    /// The kernel writes to an address in the image, as a pending request of the plugin would.
    LateWrite,
    /// A signal arrives that only the plugin handled. A timer that outlives the plugin would raise such a signal.
    LateSignal,
    /// A descriptor that the plugin has already closed is closed a second time.
    LateClose,
    /// The host blocks forever.
    Hang,
}

/// Growth per reload, over the last half of the reloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) memory_kib: f64,
    pub(crate) threads: f64,
    pub(crate) fds: f64,
    pub(crate) keys: f64,
}

/// Mode in which the plugin of a row is reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReloadMode {
    /// Replaces the plugin directly by its next build.
    OntoItself,
    /// Replaces the plugin by the neighbor, and then replaces the neighbor by the next build of the plugin.
    Alternating,
    /// Variant of `OntoItself` that also evicts threads that do not end, and closes files that the plugin leaves open.
    Evicting,
    EvictingAlternating,
}

impl ReloadMode {
    /// Returns true if threads are evicted and files closed.
    pub(crate) fn evicts(self) -> bool {
        matches!(self, ReloadMode::Evicting | ReloadMode::EvictingAlternating)
    }

    /// Returns true if the neighbor is loaded between two builds of the plugin.
    pub(crate) fn alternates(self) -> bool {
        matches!(self, ReloadMode::Alternating | ReloadMode::EvictingAlternating)
    }

    /// Returns the mode as a suffix of a row's name.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            ReloadMode::OntoItself => "",
            ReloadMode::Alternating => ", alternating",
            ReloadMode::Evicting => ", with eviction",
            ReloadMode::EvictingAlternating => ", alternating, with eviction",
        }
    }
}

/// Plan for the host process of one row.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) libraries: Vec<PathBuf>,
    /// Library of the neighbor. In alternating modes, the neighbor is loaded between two builds of the plugin.
    pub(crate) neighbor: PathBuf,
    pub(crate) mode: ReloadMode,
    pub(crate) reloads: u64,
    /// Expected state of each image after its unload.
    pub(crate) expected_state: ImageState,
    /// Time for which the neighbor is loaded, in milliseconds.
    pub(crate) strikes_after_ms: u64,
    pub(crate) injected_fault: Option<InjectedFault>,
}

/// Progress of the host within a reload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// The plugin is loaded and has used its crate. The previous generation is unmapped or parked.
    #[default]
    Done,
    /// The neighbor is loaded, and the plugin is unmapped or parked.
    Away,
    /// The runtime was shut down. Only exit handlers of the process have not run yet.
    Ended,
}

/// Message that the host sends to the parent after each step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Number of completed reloads.
    pub(crate) reload: u64,
    pub(crate) step: Step,
    pub(crate) process: Reading,
    /// Holders that keep the previous generation mapped. Empty if this generation is not parked.
    pub(crate) parked: Vec<String>,
    pub(crate) fault: Option<String>,
}
