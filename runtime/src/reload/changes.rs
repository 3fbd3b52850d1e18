//! Changes and phase durations of a reload, used by the report.

use std::fmt;
use std::time::Duration;

use alcedo_base::figures::thousands;
use serde::{Deserialize, Serialize};

listed! {
    /// Phase of a reload.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Phase;
    ///
    /// let names: Vec<_> = Phase::ALL.iter().map(|phase| phase.name()).collect();
    /// assert_eq!(names[..3], ["stage", "canary", "quiesce"]);
    /// assert!(Phase::Rebuild < Phase::Commit);
    /// ```
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
}

impl Phase {
    /// Returns the name of the phase.
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

/// Durations of the phases in milliseconds. A phase has no entry if the reload ended before the phase.
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::{Phase, Phases};
///
/// let mut phases = Phases::default();
/// phases.0.insert(Phase::Stage.name(), 19.0);
/// phases.0.insert(Phase::Rebuild.name(), 4.0);
/// phases.0.insert(Phase::Commit.name(), 0.5);
/// // The world was paused for less time than the reload took.
/// assert_eq!(phases.swap(), Duration::from_micros(4500));
/// assert_eq!(phases.get(Phase::Stage), Duration::from_millis(19));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phases(pub std::collections::BTreeMap<&'static str, f64>);

impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let phases = std::collections::BTreeMap::<Phase, f64>::deserialize(from)?;
        Ok(Self(phases.into_iter().map(|(phase, ms)| (phase.name(), ms)).collect()))
    }
}

impl Phases {
    /// Returns the duration of one phase. Returns zero if the reload ended before the phase.
    pub fn get(&self, phase: Phase) -> Duration {
        duration(self.ms(phase))
    }

    /// Returns the total duration of the phases from quiesce to commit. The world is paused during these phases.
    pub fn swap(&self) -> Duration {
        duration(self.swap_ms())
    }

    pub(crate) fn ms(&self, phase: Phase) -> f64 {
        self.0.get(phase.name()).copied().unwrap_or(0.0)
    }

    pub(crate) fn swap_ms(&self) -> f64 {
        [Phase::Quiesce, Phase::Start, Phase::Classes, Phase::Migrate, Phase::Rebuild, Phase::Commit]
            .into_iter()
            .map(|phase| self.ms(phase))
            .sum()
    }
}

/// Time for which a reload stops the world. Measured from the start of [`Phase::Quiesce`] until the reload call returns. Includes all
/// waits, such as the wait for finalizers of the old generation, and the rollback of a failed reload. Excludes [`Phase::Stage`] and
/// [`Phase::Canary`]. Zero if the reload ended before [`Phase::Quiesce`].
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::Pause;
///
/// let pause = Pause::new(Duration::from_millis(16), 100_000);
/// assert_eq!(pause.total(), Duration::from_millis(16));
/// assert_eq!(pause.per_object(), Some(Duration::from_nanos(160)));
/// assert_eq!(Pause::new(Duration::from_millis(16), 0).per_object(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pause {
    #[serde(rename = "pause_ms")]
    ms: f64,
    #[serde(rename = "pause_ns_per_object")]
    ns_per_object: Option<f64>,
}

impl Pause {
    /// Creates a pause with this duration. `objects` is the number of living objects in the world.
    pub fn new(total: Duration, objects: u64) -> Self {
        let seconds = total.as_secs_f64();
        Self { ms: seconds * 1e3, ns_per_object: (objects != 0).then(|| seconds * 1e9 / objects as f64) }
    }

    /// Returns the whole pause.
    pub fn total(&self) -> Duration {
        duration(self.ms)
    }

    /// Returns the pause divided by the number of living objects. Returns `None` if the world had no living objects.
    pub fn per_object(&self) -> Option<Duration> {
        self.ns_per_object.map(|ns| duration(ns / 1e6))
    }
}

/// Converts milliseconds to a duration. Returns zero if the number is negative, too large, or not a number.
fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

/// Change to one property of a class, with counts of the living objects of this class.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{PropertyChange, ReloadReport};
///
/// /// Returns the properties whose values were not all carried over.
/// fn losses(report: &ReloadReport) -> impl Iterator<Item = &PropertyChange> {
///     report.properties.iter().filter(|change| change.defaulted + change.dropped != 0)
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PropertyChange {
    /// Short path of the class, such as `Game.MagicCube`.
    pub class: String,
    /// Name of the property.
    pub property: String,
    /// Description of the change to the declaration of the property.
    pub change: String,
    /// Number of objects that keep their own value unchanged. An object's own value differs from the default.
    pub kept: u64,
    /// Number of objects whose own value was converted to the new type. A conversion is lossless, or uses a conversion function of the
    /// module.
    #[serde(default)]
    pub converted: u64,
    /// Number of objects that follow the new default.
    pub followed: u64,
    /// Number of objects whose own value could not be converted. These objects have the new default.
    pub defaulted: u64,
    /// Number of objects whose own value is put aside in this process. A whole value is put aside until a property with its name exists
    /// again. If a property can hold only a part of a value, the remaining part is put aside until the property can hold this part.
    pub dormant: u64,
    /// Number of objects whose value was discarded, because the property was removed. Nonzero only after loading a world from a file.
    pub dropped: u64,
}

/// Report text for a property that can hold only a part of a value.
pub(crate) const CUT: &str = "is now too small for the whole value";

/// Returns the report text for conjugates that are built at their first use. Returns an empty string if `count` is zero.
pub(crate) fn put_off(count: u64) -> String {
    if count == 0 { String::new() } else { format!(" · {} put off until first use", thousands(count)) }
}

impl PropertyChange {
    /// Returns the index of the entry for a property. Adds an entry if the list has no entry for this property.
    pub(crate) fn line(changes: &mut Vec<Self>, class: &str, property: &str, change: &str) -> usize {
        let is_it = |known: &Self| known.class == class && known.property == property;
        let known = changes.iter().position(is_it);
        known.unwrap_or_else(|| Self::add(changes, class, property, change.to_owned()))
    }

    /// Counts a value that a conversion function of the module converts.
    pub(crate) fn count_conversion(&mut self) {
        const BY_MODULE: &str = "converted by its module";
        if !self.change.ends_with(BY_MODULE) {
            self.change += if self.change.is_empty() { "" } else { ", " };
            self.change += BY_MODULE;
        }
        self.converted += 1;
    }

    /// Adds an entry for a property, and returns the index of the entry.
    pub(crate) fn add(changes: &mut Vec<Self>, class: &str, property: &str, change: String) -> usize {
        changes.push(Self { class: class.to_owned(), property: property.to_owned(), change, ..Self::default() });
        changes.len() - 1
    }
}

/// Numbers of property values in all affected objects, by outcome. Each value is counted once.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::ValueCounts;
///
/// let mut counts = ValueCounts::default();
/// (counts.kept, counts.followed) = (3, 997);
/// assert_eq!(counts.total(), 1000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ValueCounts {
    /// Unchanged values.
    pub kept: u64,
    /// Values that follow the new default.
    pub followed: u64,
    /// Values that were converted to a new type. A conversion is lossless, or uses a conversion function of the module.
    pub converted: u64,
    /// Values that the new type cannot represent. The property has its default, and the value is put aside.
    pub defaulted: u64,
    /// Values that are put aside. Either the property was removed, or the property can hold only a part of the value.
    pub put_aside: u64,
}

impl ValueCounts {
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

    /// Returns the number of all values.
    pub fn total(&self) -> u64 {
        self.kept + self.followed + self.converted + self.defaulted + self.put_aside
    }
}

/// Change to a class that was removed, has returned, was renamed, or has a new native base class.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ClassChange, ReloadReport};
///
/// fn print(report: &ReloadReport) {
///     for ClassChange { class, change, objects } in &report.classes {
///         println!("{class} is {change}: {objects} objects");
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassChange {
    /// Short path of the class, such as `Game.MagicCube`.
    pub class: String,
    /// Description of the change, such as `gone`, `back` or `renamed`.
    pub change: String,
    /// Number of affected objects.
    pub objects: u64,
}
