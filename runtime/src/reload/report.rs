//! What a reload reports: the outcome, what became of every object and value, and how long each phase took.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::load::error::LoadError;
use crate::reload::changes::{ClassFate, Phase, Phases, PropertyChange, ValueCounts};
use crate::reload::journal::{Done, Journal};
use crate::unload::report::{BlockerReport, ModuleEnd, UnloadReport};

/// How a reload ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a reload did before it was rolled back and what the rollback cannot take back, by name: which listeners were
/// called, and which modules' code ran. The world, the plugin parts and the registries are as they were but for what is
/// named here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remainder {
    /// Events for which listeners of the load context were called, in order, with those of the rollback:
    /// `Unloading 3`, `PreStartup 4`, `Resumed 3`.
    pub events: Vec<String>,
    /// The priorities of the unloading callbacks that were called, in order.
    pub unloading_callbacks: Vec<i32>,
    /// New modules whose main was called, in order. What it did outside of the host's world is not undone.
    pub mains: Vec<String>,
    /// New modules whose exit hook was called, in order.
    pub exit_hooks: Vec<String>,
    /// Modules that stay, and whose `suspend` was called, in order.
    #[serde(default)]
    pub suspended: Vec<String>,
    /// Those of them whose `resume` was called, in order: all of them.
    #[serde(default)]
    pub resumed: Vec<String>,
    /// Objects that were born and are gone again, class default objects as a rule: the native constructors of their
    /// bases ran.
    pub constructions: Vec<Named>,
    /// Functions beyond the new modules that were called before the failure, since they are declared pure.
    pub pure_calls: Vec<Named>,
    /// Calls and functions that new code tried and that were refused: nothing of them ran.
    pub refused_calls: Vec<Named>,
    /// Objects that a listener put into the root set, as text: they stay in it.
    pub roots_added: Vec<String>,
    /// Objects that a listener took from the root set, as text: they are not in it any more.
    pub roots_removed: Vec<String>,
    /// Names of calls that were looked up for the first time: they keep their handles.
    pub names_resolved: Vec<String>,
}

/// Something by its name, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The path of a class or function, or the name of a call.
    pub name: String,
    /// How often.
    pub times: u64,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, times } = self;
        if *times == 1 { f.write_str(name) } else { write!(f, "{name} ({times} times)") }
    }
}

impl Remainder {
    fn of(done: Done) -> Self {
        let Done { record, constructions, calls, roots: (added, removed), resolved } = done;
        let named = |(name, times): (&String, u64)| (times != 0).then(|| Named { name: name.clone(), times });
        Self {
            events: record.events,
            unloading_callbacks: record.callbacks,
            mains: record.mains,
            exit_hooks: record.exit_hooks,
            suspended: record.suspended,
            resumed: record.resumed,
            constructions: constructions.iter().filter_map(|(name, times)| named((name, *times))).collect(),
            pure_calls: calls.iter().filter_map(|(name, count)| named((name, count.allowed))).collect(),
            refused_calls: calls.iter().filter_map(|(name, count)| named((name, count.refused))).collect(),
            roots_added: added.iter().map(ToString::to_string).collect(),
            roots_removed: removed.iter().map(ToString::to_string).collect(),
            names_resolved: resolved,
        }
    }

    /// A line for each list that is not empty.
    pub(crate) fn lines(&self) -> Vec<String> {
        fn line<T: fmt::Display>(lines: &mut Vec<String>, words: &str, list: &[T], rest: &str) {
            if !list.is_empty() {
                let list: Vec<_> = list.iter().map(ToString::to_string).collect();
                lines.push(format!("{words} {}{rest}", list.join(", ")));
            }
        }
        let mut lines = Vec::new();
        line(&mut lines, "listeners were called with", &self.events, "");
        line(&mut lines, "unloading callbacks were called, of priority", &self.unloading_callbacks, "");
        let outside = ": what it did outside of the host's world is not undone";
        line(&mut lines, "main was called of", &self.mains, outside);
        line(&mut lines, "exit hook was called of", &self.exit_hooks, "");
        line(&mut lines, "suspended:", &self.suspended, "");
        line(&mut lines, "and resumed:", &self.resumed, "");
        line(&mut lines, "born and gone again:", &self.constructions, "");
        line(&mut lines, "called as pure:", &self.pure_calls, "");
        line(&mut lines, "refused to new code:", &self.refused_calls, "");
        line(&mut lines, "put into the root set:", &self.roots_added, "");
        line(&mut lines, "taken from the root set:", &self.roots_removed, "");
        line(&mut lines, "looked up, and known from now on:", &self.names_resolved, "");
        lines
    }
}

/// One reload, from start to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reload {
    /// How many requests it answers: zero when it was called for directly.
    pub requests: u64,
    /// The modules concerned, in dependency order.
    pub modules: Vec<String>,
    /// Modules that stay as they are, with the generation they are of: only what has changed was to be replaced.
    pub kept_modules: Vec<String>,
    /// Why each module was replaced, where only what had to be was.
    pub replaced_because: Vec<String>,
    /// The generation before.
    pub from: u64,
    /// The generation after: the same as before when rolled back.
    pub generation: u64,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Objects that live on, of every class.
    pub objects_kept: u64,
    /// Living objects whose plugin part was built anew.
    pub conjugates_rebuilt: u64,
    /// Class constructors that ran again on an object that had its own already. Always zero in a sound host.
    pub class_constructors_rerun: u64,
    /// Kept plugin-side fields that were put back.
    pub fields_kept: u64,
    /// Kept plugin-side fields that no longer fit: class, field, why, and of how many objects.
    pub fields_lost: Vec<String>,
    /// Values by property, where something changed.
    pub properties: Vec<PropertyChange>,
    /// Counts of all values of the objects concerned, changed or not, without default subobjects.
    #[serde(default)]
    pub values: ValueCounts,
    /// Classes that are gone, are back, or sit on another native class, and their objects.
    pub classes: Vec<ClassFate>,
    /// Default subobjects that were made for or taken from living objects, and inserted base classes.
    pub structure: Vec<String>,
    /// Images that stay mapped, and why.
    pub parked: Vec<String>,
    /// What the generation that ended had left behind, when its images were gone by the end of the reload.
    pub retired: Option<UnloadReport>,
    /// What keeps the generation that ended, when its images were not gone by then.
    pub blocked: Option<BlockerReport>,
    /// What was done and is not taken back by the rollback; empty after a commit.
    pub remainder: Remainder,
    /// What else the user should know.
    pub warnings: Vec<String>,
    /// How long each phase took.
    pub phases: Phases,
}

impl Reload {
    /// Nothing was there to be replaced.
    pub(crate) fn unchanged(journal: Journal) -> Self {
        let generation = journal.from;
        Self::of(journal, generation, Outcome::Committed)
    }

    /// The new generation is live, with so many objects of the one before.
    pub(crate) fn committed(mut journal: Journal, generation: u64, objects_kept: u64) -> Self {
        let (changes, rebuilt) = (std::mem::take(&mut journal.changes), std::mem::take(&mut journal.rebuilt));
        Self {
            kept_modules: std::mem::take(&mut journal.kept_modules),
            replaced_because: std::mem::take(&mut journal.replaced_because),
            objects_kept,
            conjugates_rebuilt: rebuilt.conjugates,
            fields_kept: rebuilt.fields_kept,
            fields_lost: rebuilt.fields_lost,
            properties: changes.properties,
            values: changes.values,
            classes: changes.classes,
            structure: changes.structure,
            ..Self::of(journal, generation, Outcome::Committed)
        }
    }

    /// The old generation goes on, with so many objects, since a phase failed.
    pub(crate) fn rolled_back(mut journal: Journal, phase: Phase, error: &LoadError, objects: u64) -> Self {
        let (generation, done) = (journal.from, std::mem::take(&mut journal.done));
        Self {
            objects_kept: objects,
            remainder: Remainder::of(done),
            ..Self::of(journal, generation, Outcome::RolledBack { phase, error: error.to_string() })
        }
    }

    /// What is reported whatever the outcome.
    fn of(journal: Journal, generation: u64, outcome: Outcome) -> Self {
        let Journal { from, modules, reruns, ended, warnings, phases, .. } = journal;
        let (parked, retired) = ended.as_ref().map(|it| (it.parked_lines(), it.end_report())).unwrap_or_default();
        let blocked = ended.filter(|_| retired.is_none() && parked.is_empty()).map(|ticket| ticket.report());
        Self {
            requests: 0,
            modules,
            kept_modules: Vec::new(),
            replaced_because: Vec::new(),
            from,
            generation,
            outcome,
            objects_kept: 0,
            conjugates_rebuilt: 0,
            class_constructors_rerun: reruns,
            fields_kept: 0,
            fields_lost: Vec::new(),
            properties: Vec::new(),
            values: ValueCounts::default(),
            classes: Vec::new(),
            structure: Vec::new(),
            parked,
            retired,
            blocked,
            remainder: Remainder::default(),
            warnings,
            phases,
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
        self.phases.get(Phase::Stage) + self.phases.get(Phase::Canary) + self.phases.swap_ms()
    }
}

impl fmt::Display for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modules = self.modules.join(", ");
        match &self.outcome {
            Outcome::Committed if self.generation == self.from => {
                write!(f, "generation {} stays as it is", self.from)?;
                return self.tail(f);
            }
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
        let phases: Vec<_> = Phase::ALL
            .iter()
            // A host without a canary has no such phase.
            .filter(|phase| **phase != Phase::Canary || self.phases.0.contains_key(phase.name()))
            .map(|phase| format!("{phase} {:.1}", self.phases.get(*phase)))
            .collect();
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
        if !self.kept_modules.is_empty() {
            write!(f, "\n  {} stays as it is", self.kept_modules.join(", "))?;
        }
        for line in &self.replaced_because {
            write!(f, "\n  {line}")?;
        }
        for fate in &self.classes {
            write!(f, "\n  {} {}: {} objects", fate.class, fate.change, thousands(fate.objects))?;
        }
        for change in &self.properties {
            write!(f, "\n  {}.{}   {}{}", change.class, change.property, change.change, counts(change))?;
        }
        if let Some(retired) = &self.retired {
            let left = retired.modules.iter().filter_map(ModuleEnd::line).chain(retired.problems.iter().cloned());
            left.into_iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        }
        if let Some(blocked) = self.blocked.as_ref().filter(|blocked| !blocked.is_late()) {
            write!(f, "\n  {} is unloading", blocked.subject)?;
        } else if let Some(blocked) = &self.blocked {
            blocked.to_string().lines().try_for_each(|line| write!(f, "\n  {line}"))?;
        }
        for line in self.structure.iter().chain(&self.fields_lost).chain(&self.parked).chain(&self.warnings) {
            write!(f, "\n  {line}")?;
        }
        for line in self.remainder.lines() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

/// How many objects a change concerned, and how: `: 3 followed, 1 dropped`.
pub(crate) fn counts(change: &PropertyChange) -> String {
    let counts = [
        (change.followed, "followed"),
        (change.kept, "kept their own"),
        (change.converted, "converted"),
        (change.defaulted, "got the default"),
        (change.dormant, "dormant until it returns"),
        (change.dropped, "dropped"),
    ];
    let words = |(count, what): &(u64, &str)| format!("{} {what}", thousands(*count));
    let counts: Vec<_> = counts.iter().filter(|(count, _)| *count != 0).map(words).collect();
    if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) }
}

/// A number as people read it.
pub(crate) fn thousands(number: u64) -> String {
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
    use std::collections::BTreeMap;

    use super::{Phase, PropertyChange, Reload, thousands};
    use crate::bridge::rebuild::Rebuilt;
    use crate::handles::ObjectHandle;
    use crate::load::error::LoadError;
    use crate::load::record::Record;
    use crate::object::mode::CallCount;
    use crate::reload::journal::{Done, Journal};

    /// What has happened in a reload of the cube up to its commit.
    fn journal(from: u64) -> Journal {
        let mut journal = Journal { from, modules: vec!["magic-cube".into()], ..Journal::default() };
        journal.rebuilt = Rebuilt { conjugates: 1000, ..Rebuilt::default() };
        for (phase, ms) in Phase::ALL.into_iter().zip([6.0, 1.2, 0.1, 0.1, 0.2, 0.3, 0.4, 0.0, 0.9]) {
            journal.phases.0.insert(phase.name(), ms);
        }
        journal.changes.properties.push(PropertyChange {
            class: "Game.MagicCube".into(),
            property: "rotation_speed".into(),
            change: "default 180 → 240".into(),
            followed: 997,
            kept: 3,
            ..PropertyChange::default()
        });
        journal
    }

    #[test]
    fn a_committed_reload_reads_as_a_few_lines() {
        let reload = Reload::committed(journal(3), 4, 1000);
        expect_test::expect![[r#"
            magic-cube  generation 3 → 4   swapped in 1.1 ms
              stage 6.0 · canary 1.2 · quiesce 0.1 · start 0.1 · classes 0.2 · migrate 0.3 · rebuild 0.4 · commit 0.0 · retire 0.9 ms
              1,000 objects kept · 1,000 conjugates rebuilt · 0 class constructors rerun
              Game.MagicCube.rotation_speed   default 180 → 240: 997 followed, 3 kept their own"#]]
        .assert_eq(&reload.to_string());
    }

    #[test]
    fn a_rollback_says_what_failed_and_what_it_cannot_take_back_and_nothing_of_what_was_on_the_way() {
        let calls = |allowed, refused| CallCount { allowed, refused };
        let record = Record {
            events: ["Unloading 4", "PreStartup 5", "Resumed 4"].map(String::from).into(),
            callbacks: vec![-1, 0],
            mains: vec!["magic-cube".into()],
            exit_hooks: vec!["magic-cube".into()],
            suspended: vec!["magic-cube".into()],
            resumed: vec!["magic-cube".into()],
        };
        let done = Done {
            record,
            constructions: BTreeMap::from([("/Script/Game.MagicCube".into(), 1)]),
            calls: BTreeMap::from([("ex:/now".into(), calls(3, 0)), ("ex:/tell".into(), calls(0, 1))]),
            roots: (vec![ObjectHandle::new(7, 1)], vec![ObjectHandle::new(8, 2)]),
            resolved: vec!["ex:/tell".into()],
        };
        let failure = LoadError::NoMaster;
        let reload = Reload::rolled_back(Journal { done, ..journal(4) }, Phase::Rebuild, &failure, 1000);
        assert_eq!((reload.objects_kept, reload.conjugates_rebuilt, reload.properties.len()), (1000, 0, 0));
        expect_test::expect![[r#"
            magic-cube  generation 4 stays   the reload failed
              rebuild: there is no Master load context: create it with `create_master`
              everything is as it was · save again to retry
              listeners were called with Unloading 4, PreStartup 5, Resumed 4
              unloading callbacks were called, of priority -1, 0
              main was called of magic-cube: what it did outside of the host's world is not undone
              exit hook was called of magic-cube
              suspended: magic-cube
              and resumed: magic-cube
              born and gone again: /Script/Game.MagicCube
              called as pure: ex:/now (3 times)
              refused to new code: ex:/tell
              put into the root set: #7.1
              taken from the root set: #8.2
              looked up, and known from now on: ex:/tell"#]]
        .assert_eq(&reload.to_string());
        let empty = Reload::rolled_back(journal(4), Phase::Stage, &failure, 0).to_string();
        assert!(empty.ends_with("\n  everything is as it was · save again to retry"), "{empty}");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(thousands), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
