//! Report of a reload, with outcome, effects on objects and values, and phase durations.

use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use alcedo_base::figures::{counted, thousands};
use serde::{Deserialize, Serialize};

use crate::load::error::LoadError;
use crate::load::master::BroughtUp;
use crate::load::module::master::MasterModule;
use crate::load::record::Remainder;
use crate::load::replace::Why;
use crate::reload::changes::{ClassChange, Pause, Phase, Phases, PropertyChange, ValueCounts, put_off};
use crate::unload::report::{BlockerReport, ModuleEnd, UnloadReport};
use crate::unload::ticket::UnloadTicket;

/// Outcome of a reload.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Outcome, Phase};
///
/// let outcome = Outcome::RolledBack { phase: Phase::Rebuild, error: "a red constructor panicked".to_owned() };
/// let line = match outcome {
///     Outcome::Committed => "the new code is live".to_owned(),
///     Outcome::RolledBack { phase, error } => format!("{phase}: {error}"),
/// };
/// assert_eq!(line, "rebuild: a red constructor panicked");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The new generation is live.
    #[default]
    Committed,
    /// The reload failed. The old generation continues unchanged.
    RolledBack {
        /// Phase that failed.
        phase: Phase,
        /// Description of the failure, with a hint.
        error: String,
    },
}

/// Report of one reload. The default value is the report of a commit without changes.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Error, Runtime};
///
/// /// Reloads a plugin and prints the effects on the objects.
/// fn reload(runtime: &Runtime, library: &str) -> Result<(), Error> {
///     let report = runtime.reload(&[library])?;
///     println!("{} objects kept, {} conjugates rebuilt", report.objects_kept, report.conjugates_rebuilt);
///     for change in &report.properties {
///         println!("{}.{} {}: {} followed", change.class, change.property, change.change, change.followed);
///     }
///     Ok(())
/// }
///
/// # fn main() -> Result<(), Error> {
/// // No Master is loaded.
/// assert!(reload(&Runtime::builder().build()?, "/opt/game/plugins/libweather.so").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReloadReport {
    /// Number of requests that were merged into this reload. Zero for a direct call.
    pub requests: u64,
    /// Modules that the reload replaced or tried to replace, dependencies first. If a file was rejected, contains only the module of that
    /// file.
    pub modules: Vec<String>,
    /// Modules that were not replaced, with their generations. Filled only for a reload of changed modules.
    pub kept_modules: Vec<String>,
    /// Reasons for replacing each module. Filled only for a reload of changed modules.
    pub replaced_because: Vec<String>,
    /// Generation before the reload.
    pub from: u64,
    /// Generation after the reload. Equals `from` after a rollback.
    pub generation: u64,
    /// Outcome of the reload.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Number of living objects of all classes after the reload.
    pub objects_kept: u64,
    /// Number of living objects whose plugin part was rebuilt.
    pub conjugates_rebuilt: u64,
    /// Number of living objects whose plugin part is built at its first use, because their class is rebuilt lazily.
    #[serde(default)]
    pub conjugates_put_off: u64,
    /// Number of class constructors that ran a second time on an object. Zero in a correct host.
    pub class_constructors_rerun: u64,
    /// Number of kept fields of plugin parts that were restored.
    pub fields_kept: u64,
    /// Kept fields that no longer fit their plugin parts. Each entry contains class, field, reason, and number of objects.
    pub fields_lost: Vec<String>,
    /// Changed properties, each with counts of its values.
    pub properties: Vec<PropertyChange>,
    /// Counts of all values of the affected objects, including unchanged values. Omits references to default subobjects.
    #[serde(default)]
    pub values: ValueCounts,
    /// Classes that were removed, have returned, were renamed, or have a new native base. Each entry contains the number of objects.
    pub classes: Vec<ClassChange>,
    /// Descriptions of default subobjects that were created for or removed from living objects, and of inserted base classes.
    pub structure: Vec<String>,
    /// Images that stay mapped. Each entry contains the reason.
    pub parked: Vec<String>,
    /// Unload report of the old generation, if its unload was complete at the end of the reload.
    pub retired: Option<UnloadReport>,
    /// Blockers of the old generation, if its unload was not complete at the end of the reload.
    pub blocked: Option<BlockerReport>,
    /// Effects that the rollback could not undo. Empty after a commit.
    pub remainder: Remainder,
    /// Further warnings for the user.
    pub warnings: Vec<String>,
    /// Durations of the phases.
    pub phases: Phases,
    /// Time for which the world was stopped. Serialized as `pause_ms` and `pause_ns_per_object`.
    #[serde(flatten)]
    pub pause: Pause,
}

impl ReloadReport {
    /// Creates the report of a reload. `modules` contains the affected modules.
    pub(crate) fn begin(from: u64, modules: &[Rc<MasterModule>]) -> Self {
        Self { from, modules: names(modules), ..Self::default() }
    }

    /// Records that `file` was rejected. Lists the module that was loaded from this file as the only affected module.
    pub(crate) fn record_refused(&mut self, file: &Path, modules: &[Rc<MasterModule>]) {
        let of_file = |module: &&Rc<MasterModule>| module.info().origin.as_deref() == Some(file);
        if let Some(module) = modules.iter().find(of_file) {
            self.modules = vec![module.name().to_owned()];
        }
    }

    /// Records the replaced modules with the reasons, and the kept modules.
    pub(crate) fn record_scope(&mut self, brought_up: &BroughtUp) {
        self.modules = names(&brought_up.new);
        let kept =
            |module: &Rc<MasterModule>| format!("{} of generation {}", module.name(), module.gate().tag().generation);
        self.kept_modules = brought_up.kept.iter().map(kept).collect();
        self.replaced_because = brought_up.why.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    }

    /// Records the parked images, and the report or the blockers of the unloading generation.
    pub(crate) fn record_unload(&mut self, ticket: &UnloadTicket) {
        (self.parked, self.retired) = (ticket.parked_lines(), ticket.end_report());
        self.blocked = (self.retired.is_none() && self.parked.is_empty()).then(|| ticket.report());
    }

    /// Completes the report of a reload that replaced no module.
    pub(crate) fn unchanged(self) -> Self {
        Self { remainder: Remainder::default(), ..self.without_changes() }
    }

    /// Completes the report of a commit. `objects_kept` is the number of surviving objects.
    pub(crate) fn committed(self, generation: u64, objects_kept: u64) -> Self {
        Self { generation, objects_kept, remainder: Remainder::default(), ..self }
    }

    /// Completes the report of a rollback. `objects` is the number of objects of the old generation.
    pub(crate) fn rolled_back(self, phase: Phase, error: &LoadError, objects: u64) -> Self {
        let outcome = Outcome::RolledBack { phase, error: error.to_string() };
        Self { outcome, objects_kept: objects, ..self.without_changes() }
    }

    /// Resets the fields that are valid only after a commit.
    fn without_changes(self) -> Self {
        let Self { modules, from, class_constructors_rerun, parked, retired, blocked, .. } = self;
        let Self { remainder, warnings, phases, .. } = self;
        Self {
            modules,
            from,
            generation: from,
            class_constructors_rerun,
            parked,
            retired,
            blocked,
            remainder,
            warnings,
            phases,
            ..Self::default()
        }
    }

    /// Checks if the new generation is live.
    pub fn is_committed(&self) -> bool {
        self.outcome == Outcome::Committed
    }

    /// Converts the report to a result, for callers that treat a rollback as an error.
    ///
    /// # Errors
    /// Returns the report itself if the reload was rolled back.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// let libraries = ["/opt/game/plugins/libweather.so"];
    /// runtime.create_master(&libraries)?;
    /// let report = runtime.reload(&libraries)?;
    /// if let Err(report) = report.into_result() {
    ///     eprintln!("generation {} continues: {report}", report.from);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_result(self) -> Result<Self, Box<Self>> {
        if self.is_committed() { Ok(self) } else { Err(Box::new(self)) }
    }

    /// Returns the changes to types and values, one line each. The first lines state why modules with unchanged files were replaced. The
    /// next lines describe classes, properties, default subobjects and lost fields. Returns no lines if only code has changed.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{PropertyChange, ReloadReport};
    ///
    /// let mut report = ReloadReport::default();
    /// assert!(report.changes().is_empty());
    /// let mut speed = PropertyChange::default();
    /// (speed.class, speed.property) = ("Game.Cube".into(), "speed".into());
    /// (speed.change, speed.followed) = ("default 1 → 2".into(), 3);
    /// report.properties.push(speed);
    /// assert_eq!(report.changes(), ["Game.Cube.speed   default 1 → 2: 3 followed"]);
    /// ```
    pub fn changes(&self) -> Vec<String> {
        let is_own =
            |line: &&String| [Why::Changed, Why::TextChanged].iter().any(|why| line.ends_with(&format!(": {why}")));
        let mut lines: Vec<_> = self.replaced_because.iter().filter(|line| !is_own(line)).cloned().collect();
        lines.extend(self.classes.iter().map(ToString::to_string));
        lines.extend(self.properties.iter().map(ToString::to_string));
        lines.extend(self.structure.iter().chain(&self.fields_lost).cloned());
        lines
    }

    /// Returns the remarks that need attention, one line each. Remarks report unreleased resources, parked images, a late unload, remaining
    /// effects of a rollback, and warnings. Most reloads have no remarks. [`Display`](fmt::Display) also prints durations, counts, and
    /// released resources.
    ///
    /// # Examples
    /// ```rust
    /// let mut report = alcedo_runtime::ReloadReport::default();
    /// assert!(report.remarks().is_empty());
    /// report.warnings.push("the main has started a thread".into());
    /// assert_eq!(report.remarks(), ["the main has started a thread"]);
    /// ```
    pub fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.class_constructors_rerun != 0 {
            lines.push(format!("{} class constructors rerun", thousands(self.class_constructors_rerun)));
        }
        if let Some(retired) = &self.retired {
            lines.extend(retired.modules.iter().filter_map(ModuleEnd::leaks).chain(retired.problems.iter().cloned()));
        }
        if let Some(blocked) = self.blocked.as_ref().filter(|blocked| blocked.is_late()) {
            lines.extend(blocked.to_string().lines().map(str::to_owned));
        }
        lines.extend(self.parked.iter().chain(&self.warnings).cloned());
        lines.extend(self.remainder.outside());
        lines
    }

    /// Returns the duration from the start of staging to the commit.
    pub fn stage_to_commit(&self) -> Duration {
        let staged = self.phases.get(Phase::Stage).saturating_add(self.phases.get(Phase::Canary));
        staged.saturating_add(self.phases.swap())
    }
}

impl fmt::Display for ReloadReport {
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
                write!(f, "  everything is as it was")?;
                return self.tail(f);
            }
        }
        let phases: Vec<_> = Phase::ALL
            .iter()
            // Omits the canary phase if no canary ran.
            .filter(|phase| **phase != Phase::Canary || self.phases.0.contains_key(phase.name()))
            .map(|phase| format!("{phase} {:.1}", self.phases.ms(*phase)))
            .collect();
        writeln!(f, "  {} ms", phases.join(" · "))?;
        write!(
            f,
            "  {} kept · {} rebuilt{} · {} rerun",
            counted(self.objects_kept, "object"),
            counted(self.conjugates_rebuilt, "conjugate"),
            put_off(self.conjugates_put_off),
            counted(self.class_constructors_rerun, "class constructor")
        )?;
        self.tail(f)
    }
}

impl ReloadReport {
    fn tail(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if !self.kept_modules.is_empty() {
            lines.push(format!("{} stays as it is", self.kept_modules.join(", ")));
        }
        lines.extend(self.replaced_because.iter().cloned());
        lines.extend(self.classes.iter().map(ToString::to_string));
        lines.extend(self.properties.iter().map(ToString::to_string));
        if let Some(retired) = &self.retired {
            lines.extend(retired.modules.iter().filter_map(ModuleEnd::line).chain(retired.problems.iter().cloned()));
        }
        match &self.blocked {
            Some(blocked) if blocked.is_late() => lines.extend(blocked.to_string().lines().map(str::to_owned)),
            Some(blocked) => lines.push(format!("{} is unloading", blocked.subject)),
            None => {}
        }
        lines.extend(self.structure.iter().chain(&self.fields_lost).chain(&self.parked).chain(&self.warnings).cloned());
        lines.extend(self.remainder.lines());
        lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl fmt::Display for ClassChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.class, self.change, counted(self.objects, "object"))
    }
}

impl fmt::Display for PropertyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}   {}{}", self.class, self.property, self.change, counts(self))
    }
}

/// Formats the counts of a change, such as `: 3 followed, 1 dropped`.
fn counts(change: &PropertyChange) -> String {
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

fn names(modules: &[Rc<MasterModule>]) -> Vec<String> {
    modules.iter().map(|module| module.name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pause, Phase, PropertyChange, ReloadReport, Remainder};
    use crate::load::error::LoadError;
    use crate::load::record::Named;

    /// Creates the report of a reload of the module `magic-cube`, up to the commit.
    fn reload(from: u64) -> ReloadReport {
        let mut report = ReloadReport { from, modules: vec!["magic-cube".into()], ..ReloadReport::default() };
        report.conjugates_rebuilt = 1000;
        for (phase, ms) in Phase::ALL.into_iter().zip([6.0, 1.2, 0.1, 0.1, 0.2, 0.3, 0.4, 0.0, 0.9]) {
            report.phases.0.insert(phase.name(), ms);
        }
        report.properties.push(PropertyChange {
            class: "Game.MagicCube".into(),
            property: "rotation_speed".into(),
            change: "default 180 → 240".into(),
            followed: 997,
            kept: 3,
            ..PropertyChange::default()
        });
        report
    }

    #[test]
    fn a_committed_reload_reads_as_a_few_lines() {
        let reload = reload(3).committed(4, 1000);
        expect_test::expect![[r#"
            magic-cube  generation 3 → 4   swapped in 1.1 ms
              stage 6.0 · canary 1.2 · quiesce 0.1 · start 0.1 · classes 0.2 · migrate 0.3 · rebuild 0.4 · commit 0.0 · retire 0.9 ms
              1,000 objects kept · 1,000 conjugates rebuilt · 0 class constructors rerun
              Game.MagicCube.rotation_speed   default 180 → 240: 997 followed, 3 kept their own"#]]
        .assert_eq(&reload.to_string());
    }

    #[test]
    fn a_rollback_report_lists_failures_and_irreversible_effects_only() {
        let remainder = Remainder {
            events: ["Unloading 4", "PreStartup 5", "Resumed 4"].map(String::from).into(),
            unloading_callbacks: vec![-1, 0],
            mains: vec!["magic-cube".into()],
            exit_hooks: vec!["magic-cube".into()],
            suspended: vec!["magic-cube".into()],
            resumed: vec!["magic-cube".into()],
            constructions: Named::each([("/Script/Game.MagicCube", 1)]),
            pure_calls: Named::each([("ex:/now", 3), ("ex:/tell", 0)]),
            refused_calls: Named::each([("ex:/now", 0), ("ex:/tell", 1)]),
            roots_added: vec!["#7.1".into()],
            roots_removed: vec!["#8.2".into()],
            names_resolved: vec!["ex:/tell".into()],
        };
        let (failure, started) = (LoadError::NoMaster, reload(4));
        let reload = ReloadReport { remainder, ..started }.rolled_back(Phase::Rebuild, &failure, 1000);
        assert_eq!((reload.objects_kept, reload.conjugates_rebuilt, reload.properties.len()), (1000, 0, 0));
        expect_test::expect![[r#"
            magic-cube  generation 4 stays   the reload failed
              rebuild: no Master load context exists: create it with `create_master`
              everything is as it was
              listeners were called with Unloading 4, PreStartup 5, Resumed 4
              unloading callbacks were called with priority -1, 0
              main ran in magic-cube: effects outside of the host's world are not undone
              exit hook ran in magic-cube
              suspended: magic-cube
              and resumed: magic-cube
              created and destroyed again: /Script/Game.MagicCube
              called as pure: ex:/now (3 times)
              refused to new code: ex:/tell
              added to the root set: #7.1
              removed from the root set: #8.2
              looked up, and still resolved: ex:/tell"#]]
        .assert_eq(&reload.to_string());
        expect_test::expect![[r#"
            main of magic-cube and exit hook of magic-cube ran: effects outside of the world remain"#]]
        .assert_eq(&reload.remarks().join("\n"));
        let empty = self::reload(4).rolled_back(Phase::Stage, &failure, 0).to_string();
        assert!(empty.ends_with("\n  everything is as it was"), "{empty}");
    }

    #[test]
    fn the_pause_is_two_fields_of_the_serialized_report() {
        let mut report = reload(3).committed(4, 1000);
        report.pause = Pause::new(Duration::from_millis(2), 1000);
        let text = serde_json::to_value(&report).expect("a report");
        assert_eq!((&text["pause_ms"], &text["pause_ns_per_object"]), (&2.0.into(), &2000.0.into()));
        assert_eq!(serde_json::from_value::<ReloadReport>(text.clone()).expect("the same report"), report);
        // Older hosts do not report the pause.
        let serde_json::Value::Object(mut fields) = text else { panic!("a report is an object") };
        fields.retain(|name, _| !name.starts_with("pause_"));
        let older: ReloadReport = serde_json::from_value(fields.into()).expect("a report without a pause");
        assert_eq!((older.pause, older.objects_kept), (Pause::default(), 1000));
    }
}
