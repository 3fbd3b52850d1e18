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
    /// Objects whose own value has another type now, and lost nothing.
    #[serde(default)]
    pub converted: u64,
    /// Objects that follow the new default.
    pub followed: u64,
    /// Objects whose value could not be converted, so that they have the new default.
    pub defaulted: u64,
    /// Objects whose own value is put aside, in this process: as a whole until a property of that name returns, or in part until the
    /// property has room for the rest.
    pub dormant: u64,
    /// Objects whose value is gone with the property: in worlds that come from a file.
    pub dropped: u64,
}

/// Words of the report for a property that has room for a part of a value only.
pub(crate) const CUT: &str = "has no room for all of it now";

impl PropertyChange {
    /// Returns the index of the line of that property, which is added if there is none.
    pub(crate) fn line(changes: &mut Vec<Self>, class: &str, property: &str, change: &str) -> usize {
        let is_it = |known: &Self| known.class == class && known.property == property;
        changes.iter().position(is_it).unwrap_or_else(|| {
            let (class, property, change) = (class.to_owned(), property.to_owned(), change.to_owned());
            changes.push(Self { class, property, change, ..Self::default() });
            changes.len() - 1
        })
    }
}

/// Counts of all values of the objects that a reload concerns, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCounts {
    /// Values that stay as they are.
    pub kept: u64,
    /// Values that follow the new default.
    pub followed: u64,
    /// Values that have another type now, and lost nothing.
    pub converted: u64,
    /// Values that the new type cannot have: the property has its default, and the value is put aside.
    pub defaulted: u64,
    /// Values that are put aside since the property is gone, or has room for a part of them only.
    pub put_aside: u64,
}

impl ValueCounts {
    /// Sums up the lines of all properties.
    pub(crate) fn of(changes: &[PropertyChange]) -> Self {
        let sum = |of: fn(&PropertyChange) -> u64| changes.iter().map(of).sum();
        Self {
            kept: sum(|change| change.kept),
            followed: sum(|change| change.followed),
            converted: sum(|change| change.converted),
            defaulted: sum(|change| change.defaulted),
            put_aside: sum(|change| change.dormant),
        }
    }

    /// All values.
    pub fn all(&self) -> u64 {
        self.kept + self.followed + self.converted + self.defaulted + self.put_aside
    }
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
