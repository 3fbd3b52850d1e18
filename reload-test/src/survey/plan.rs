//! What the host of a row is to do, and what it says meanwhile: data that goes from one process to the other.

use super::sabotage::Sabotage;
use crate::plan::Reading;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Outcome of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fate {
    /// It is unmapped.
    #[default]
    Unmapped,
    /// It stays, because somebody would run code of it.
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

/// In which way a row is reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// The next build of the same plugin takes over.
    OntoItself,
    /// The neighbor takes over, lives for a while, and then the plugin comes again.
    Alternating,
    /// As the first; threads that do not end are evicted, and files are closed.
    Evicting,
    /// Alternating, with eviction.
    EvictingAlternating,
}

impl Way {
    /// Checks if threads are evicted and files closed.
    pub(crate) fn evicts(self) -> bool {
        matches!(self, Way::Evicting | Way::EvictingAlternating)
    }

    /// Checks if the neighbor takes over in between.
    pub(crate) fn alternates(self) -> bool {
        matches!(self, Way::Alternating | Way::EvictingAlternating)
    }

    /// As it follows the name of a row in a sentence.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Way::OntoItself => "",
            Way::Alternating => ", alternating",
            Way::Evicting => ", with eviction",
            Way::EvictingAlternating => ", alternating, with eviction",
        }
    }
}

/// What the host of a row is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Builds to swap between.
    pub(crate) libraries: Vec<PathBuf>,
    /// The plugin that lives in between, where there is one.
    pub(crate) neighbor: PathBuf,
    /// In which way.
    pub(crate) way: Way,
    /// How many reloads.
    pub(crate) reloads: u64,
    /// What is to become of each image.
    pub(crate) fate: Fate,
    /// For how long the neighbor lives, in milliseconds.
    pub(crate) strikes_after_ms: u64,
    /// Harm that is done to see whether it is noticed.
    pub(crate) sabotage: Option<Sabotage>,
}

/// Where in a reload the host is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// The plugin is there and has worked, and the one before is gone or given up.
    #[default]
    Done,
    /// The neighbor lives, and the plugin is gone or given up.
    Away,
    /// Everything is over, but for what runs when the process ends.
    Ended,
}

/// What the host says after each step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    /// Reloads that are done; zero before the first.
    pub(crate) reload: u64,
    /// What has just been done.
    pub(crate) step: Step,
    /// The process now.
    pub(crate) process: Reading,
    /// Who kept the generation before, if it stays for good.
    pub(crate) parked: Vec<String>,
    /// What went wrong.
    pub(crate) fault: Option<String>,
}
