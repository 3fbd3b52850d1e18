//! What a reload tells: the outcome, what became of every object and value, and how long each phase took.

use std::fmt;

use serde::Serialize;

/// How a reload ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The new generation is live.
    Committed,
    /// The old generation goes on as it was.
    RolledBack {
        /// The phase that failed.
        phase: Phase,
        /// What was tried, on what, and the way out.
        error: String,
    },
}

/// A phase of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the phases are the steps of the reload transaction, explained in the book")]
pub enum Phase {
    Stage,
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
    pub const ALL: [Self; 8] = [
        Self::Stage,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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
    /// Objects whose value is gone with the property.
    pub dropped: u64,
}

/// One reload, from start to end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reload {
    /// The modules concerned, in dependency order.
    pub modules: Vec<String>,
    /// The generation before.
    pub from: u64,
    /// The generation after: the same as before when rolled back.
    pub generation: u64,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Objects that live on, of every class.
    pub objects_kept: u64,
    /// Living objects whose plugin half was built anew.
    pub conjugates_rebuilt: u64,
    /// Class constructors that ran again on an object that had its own already. Always zero in a sound host.
    pub class_constructors_rerun: u64,
    /// Kept plugin-side fields that were put back.
    pub fields_kept: u64,
    /// Kept plugin-side fields that no longer fit: class, field, why, and of how many objects.
    pub fields_lost: Vec<String>,
    /// Values by property, where something changed.
    pub properties: Vec<PropertyChange>,
    /// Default subobjects that were made for or taken from living objects, and inserted base classes.
    pub structure: Vec<String>,
    /// Images that stay mapped, and why.
    pub parked: Vec<String>,
    /// What else the user should know.
    pub warnings: Vec<String>,
    /// How long each phase took.
    pub phases: Phases,
}

impl Reload {
    /// A report to be filled.
    pub(crate) fn new(from: u64) -> Self {
        Self {
            modules: Vec::new(),
            from,
            generation: from,
            outcome: Outcome::Committed,
            objects_kept: 0,
            conjugates_rebuilt: 0,
            class_constructors_rerun: 0,
            fields_kept: 0,
            fields_lost: Vec::new(),
            properties: Vec::new(),
            structure: Vec::new(),
            parked: Vec::new(),
            warnings: Vec::new(),
            phases: Phases::default(),
        }
    }

    /// Whether the new generation is live.
    pub fn is_committed(&self) -> bool {
        self.outcome == Outcome::Committed
    }

    /// The report as a result, for callers that treat a rollback as their own failure.
    ///
    /// # Errors
    /// The report of a reload that was rolled back.
    pub fn into_result(self) -> Result<Self, Box<Self>> {
        if self.is_committed() { Ok(self) } else { Err(Box::new(self)) }
    }

    /// Milliseconds from the start of staging to the commit.
    pub fn stage_to_commit_ms(&self) -> f64 {
        self.phases.get(Phase::Stage) + self.phases.swap_ms()
    }
}

impl fmt::Display for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modules = self.modules.join(", ");
        match &self.outcome {
            Outcome::Committed => {
                writeln!(
                    f,
                    "{modules}  generation {} → {}   swapped in {:.1} ms",
                    self.from,
                    self.generation,
                    self.phases.swap_ms()
                )?;
            }
            Outcome::RolledBack { phase, error } => {
                writeln!(f, "{modules}  generation {} stays   the reload failed", self.from)?;
                writeln!(f, "  {phase}: {error}")?;
                write!(f, "  everything is as it was · save again to retry")?;
                return self.tail(f);
            }
        }
        let phases: Vec<_> = Phase::ALL.iter().map(|phase| format!("{phase} {:.1}", self.phases.get(*phase))).collect();
        writeln!(f, "  {} ms", phases.join(" · "))?;
        write!(
            f,
            "  {} objects kept · {} conjugates rebuilt · {} class constructors rerun",
            thousands(self.objects_kept),
            thousands(self.conjugates_rebuilt),
            self.class_constructors_rerun
        )?;
        self.tail(f)
    }
}

impl Reload {
    fn tail(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in &self.properties {
            write!(f, "\n  {}.{}   {}", change.class, change.property, change.change)?;
            let counts = [
                (change.followed, "followed"),
                (change.kept, "kept their own"),
                (change.defaulted, "got the default"),
                (change.dropped, "dropped"),
            ];
            let counts: Vec<_> = counts
                .into_iter()
                .filter(|(count, _)| *count != 0)
                .map(|(count, what)| format!("{} {what}", thousands(count)))
                .collect();
            if !counts.is_empty() {
                write!(f, ": {}", counts.join(", "))?;
            }
        }
        for line in self.structure.iter().chain(&self.fields_lost).chain(&self.parked).chain(&self.warnings) {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Phase, PropertyChange, Reload, thousands};

    #[test]
    fn a_committed_reload_reads_as_a_few_lines() {
        let mut reload = Reload::new(3);
        reload.modules = vec!["magic-cube".into()];
        reload.generation = 4;
        (reload.objects_kept, reload.conjugates_rebuilt) = (1000, 1000);
        for (phase, ms) in Phase::ALL.into_iter().zip([6.0, 0.1, 0.1, 0.2, 0.3, 0.4, 0.0, 0.9]) {
            reload.phases.0.insert(phase.name(), ms);
        }
        reload.properties.push(PropertyChange {
            class: "Game.MagicCube".into(),
            property: "rotation_speed".into(),
            change: "default 180 → 240".into(),
            followed: 997,
            kept: 3,
            ..PropertyChange::default()
        });
        expect_test::expect![[r#"
            magic-cube  generation 3 → 4   swapped in 1.1 ms
              stage 6.0 · quiesce 0.1 · start 0.1 · classes 0.2 · migrate 0.3 · rebuild 0.4 · commit 0.0 · retire 0.9 ms
              1,000 objects kept · 1,000 conjugates rebuilt · 0 class constructors rerun
              Game.MagicCube.rotation_speed   default 180 → 240: 997 followed, 3 kept their own"#]]
        .assert_eq(&reload.to_string());
    }

    #[test]
    fn a_rollback_says_what_failed_and_that_nothing_is_lost() {
        let mut reload = Reload::new(4);
        reload.modules = vec!["magic-cube".into()];
        reload.outcome = Outcome::RolledBack { phase: Phase::Rebuild, error: "it panicked".into() };
        expect_test::expect![[r#"
            magic-cube  generation 4 stays   the reload failed
              rebuild: it panicked
              everything is as it was · save again to retry"#]]
        .assert_eq(&reload.to_string());
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(thousands), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
