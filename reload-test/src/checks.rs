//! Checks the report that a host returns for a reload.

use alcedo_runtime::{Outcome, ReloadReport};

/// Numbers that were counted before a reload, and that the report of this reload must contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Number of existing objects of all classes.
    pub(crate) objects: u64,
    /// Number of objects with a plugin part.
    pub(crate) conjugates: u64,
    pub(crate) kept_fields: u64,
}

/// Returns a message for each value in the report of a reload that differs from the expected value.
pub(crate) fn faults(report: &ReloadReport, expected: Expected) -> Vec<String> {
    if let Outcome::RolledBack { phase, error } = &report.outcome {
        return vec![format!("rolled back in {phase}: {error}")];
    }
    let counts = [
        ("objects kept", report.objects_kept, expected.objects),
        ("conjugates rebuilt", report.conjugates_rebuilt, expected.conjugates),
        ("class constructors rerun", report.class_constructors_rerun, 0),
        ("fields kept", report.fields_kept, expected.kept_fields),
    ];
    let wrong = counts.into_iter().filter(|(_, found, expected)| found != expected);
    let mut faults: Vec<_> = wrong.map(|(what, found, expected)| format!("{found} {what}, not {expected}")).collect();
    if report.generation <= report.from {
        faults.push(format!("generation {} does not follow {}", report.generation, report.from));
    }
    let lost = report.fields_lost.iter().map(|field| format!("a kept field was lost: {field}"));
    let values = report.properties.iter().filter(|change| change.defaulted + change.dropped > 0);
    let values =
        values.map(|change| format!("values of {}.{} were lost: {}", change.class, change.property, change.change));
    faults.extend(lost.chain(values));
    faults
}

#[cfg(test)]
mod tests {
    use super::{Expected, faults};

    use alcedo_runtime::{Outcome, Phase, PropertyChange, ReloadReport};

    fn sound() -> ReloadReport {
        let mut report = ReloadReport::default();
        report.modules = vec!["magic_cube".into()];
        (report.from, report.generation) = (1, 2);
        report.objects_kept = 20;
        report.conjugates_rebuilt = 10;
        report.fields_kept = 10;
        report
    }

    fn check(change: impl FnOnce(&mut ReloadReport), expected: &[&str]) {
        let mut report = sound();
        change(&mut report);
        assert_eq!(faults(&report, Expected { objects: 20, conjugates: 10, kept_fields: 10 }), expected);
    }

    #[test]
    fn a_sound_reload_has_no_faults() {
        check(|_| (), &[]);
    }

    #[test]
    fn every_count_that_differs_is_named() {
        check(|report| report.objects_kept = 19, &["19 objects kept, not 20"]);
        check(|report| report.conjugates_rebuilt = 11, &["11 conjugates rebuilt, not 10"]);
        check(|report| report.class_constructors_rerun = 1, &["1 class constructors rerun, not 0"]);
        check(|report| report.fields_kept = 0, &["0 fields kept, not 10"]);
        check(|report| report.generation = 1, &["generation 1 does not follow 1"]);
        check(|report| report.fields_lost.push("greetings".into()), &["a kept field was lost: greetings"]);
    }

    #[test]
    fn a_lost_value_is_a_fault_and_a_followed_default_is_none() {
        let change = |followed, dropped| {
            let mut change = PropertyChange::default();
            (change.class, change.property) = ("Game.MagicCube".into(), "speed".into());
            change.change = "removed".into();
            (change.followed, change.dropped) = (followed, dropped);
            change
        };
        check(|report| report.properties.push(change(3, 0)), &[]);
        check(|report| report.properties.push(change(0, 3)), &["values of Game.MagicCube.speed were lost: removed"]);
    }

    #[test]
    fn a_rollback_is_one_fault() {
        check(
            |report| {
                report.outcome = Outcome::RolledBack { phase: Phase::Rebuild, error: "it panicked".into() };
                (report.objects_kept, report.generation) = (0, 1);
            },
            &["rolled back in rebuild: it panicked"],
        );
    }
}
