//! What a reload changes and how long its phases take, for journal and report.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A phase of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the phases are the steps of the reload transaction, explained in docs/reload.md")]
pub enum Phase {
    Stage,
    Canary,
    Quiesce,
    Start,
    Classes,
    Migrate,
    Rebuild,
    Commit,
    Retire,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 9] = [
        Self::Stage,
        Self::Canary,
        Self::Quiesce,
        Self::Start,
        Self::Classes,
        Self::Migrate,
        Self::Rebuild,
        Self::Commit,
        Self::Retire,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Canary => "canary",
            Self::Quiesce => "quiesce",
            Self::Start => "start",
            Self::Classes => "classes",
            Self::Migrate => "migrate",
            Self::Rebuild => "rebuild",
            Self::Commit => "commit",
            Self::Retire => "retire",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How long the phases took, in milliseconds; a phase that was not reached took none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phases(pub std::collections::BTreeMap<&'static str, f64>);

impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let phases = std::collections::BTreeMap::<Phase, f64>::deserialize(from)?;
        Ok(Self(phases.into_iter().map(|(phase, ms)| (phase.name(), ms)).collect()))
    }
}

impl Phases {
    /// Milliseconds of one phase.
    pub fn get(&self, phase: Phase) -> f64 {
        self.0.get(phase.name()).copied().unwrap_or(0.0)
    }

    /// Milliseconds from the quiesce to the commit: how long the world stood still for the swap.
    pub fn swap_ms(&self) -> f64 {
        [Phase::Quiesce, Phase::Start, Phase::Classes, Phase::Migrate, Phase::Rebuild, Phase::Commit]
            .into_iter()
            .map(|phase| self.get(phase))
            .sum()
    }
}

/// What became of one property over all living objects of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyChange {
    /// Short path of the class: `Game.MagicCube`.
    pub class: String,
    /// The property.
    pub property: String,
    /// What happened to the declaration.
    pub change: String,
    /// Objects that kept their own value.
    pub kept: u64,
    /// Objects that follow the new default.
    pub followed: u64,
    /// Objects whose value could not be converted, so that they have the new default.
    pub defaulted: u64,
    /// Objects whose own value is kept beside them, in this process, until a property of that name returns.
    pub dormant: u64,
    /// Objects whose value is gone with the property: in worlds that come from a file.
    pub dropped: u64,
}

/// What became of the objects of a class that were not simply carried over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassFate {
    /// Short path of the class: `Game.MagicCube`.
    pub class: String,
    /// What happened: gone, still gone, back, or on another native class.
    pub change: String,
    /// How many objects it concerns.
    pub objects: u64,
}
