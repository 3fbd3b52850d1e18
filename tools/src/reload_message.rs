//! Formats messages about builds and reloads for the user, for `dev` and `demo`.

use std::collections::HashSet;

use alcedo_base::figures::counted;
use alcedo_runtime::{Outcome, ReloadReport};

use crate::figures::millis;
use crate::paint::Paint;
use crate::session::Live;

/// Formats a reload: its outcome, changes to types and values, and remarks that are not in `known`. Adds the formatted remarks to `known`.
pub(crate) fn reload(live: &Live, paint: Paint, known: &mut HashSet<String>) -> String {
    let report = &live.report;
    let all = if is_unchanged(report) { Vec::new() } else { report.remarks() };
    let count = all.len();
    let remarks: Vec<_> = all.into_iter().filter(|remark| known.insert(without_numbers(remark))).collect();
    let again = match count - remarks.len() {
        0 => String::new(),
        1 => " · 1 remark as before".to_owned(),
        again => format!(" · {again} remarks as before"),
    };
    let modules = report.modules.join(", ");
    let mut lines = Vec::new();
    match &report.outcome {
        Outcome::Committed if is_unchanged(report) => {
            let build = live.build_ms.map_or_else(String::new, |ms| format!(" · build {}", millis(ms)));
            let title = paint.bold(&format!("generation {} stays", report.from));
            lines.push(format!("{title}   its libraries are unchanged{build}"));
        }
        Outcome::Committed => {
            let title = paint.bold(&format!("{modules}  generation {} → {}", report.from, report.generation));
            let when = match live.edit_to_live_ms {
                Some(ms) => format!("live after {}", millis(ms)),
                None => format!("swapped in {:.1} ms", report.phases.swap().as_secs_f64() * 1e3),
            };
            let kept = format!("{} kept", counted(report.objects_kept, "object"));
            let of =
                live.code_of.map_or_else(String::new, |generation| format!(" · the code of generation {generation}"));
            lines.push(format!("{title}   {} · {kept}{of}{again}", paint.green(&when)));
        }
        Outcome::RolledBack { phase, error } => {
            let title = paint.bold(&format!("{modules}  generation {} stays", report.from));
            lines.push(format!("{title}   {}", paint.red("the reload failed")) + &again);
            lines.push(format!("  {phase}: {error}"));
            lines.push("  everything is as it was · save again to retry".to_owned());
        }
    }
    lines.extend(report.changes().into_iter().chain(remarks).map(|line| format!("  {line}")));
    lines.join("\n")
}

/// Removes the digits of a remark, so that remarks about different generations are equal.
fn without_numbers(remark: &str) -> String {
    remark.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Returns true if the reload found no module to replace.
pub(crate) fn is_unchanged(report: &ReloadReport) -> bool {
    report.is_committed() && report.from == report.generation
}

/// Formats the last reload for a status line.
pub(crate) fn last(live: &Live) -> String {
    let ReloadReport { from, generation, .. } = &live.report;
    match live.edit_to_live_ms {
        _ if !live.report.is_committed() => format!("{from} stayed, the reload failed"),
        _ if is_unchanged(&live.report) => format!("{from} stayed, nothing has changed"),
        Some(ms) => format!("{from} → {generation} live after {ms:.0} ms"),
        None => format!("{from} → {generation} swapped in {:.1} ms", live.report.phases.swap().as_secs_f64() * 1e3),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use alcedo_runtime::{Outcome, Pause, Phase, Phases, PropertyChange, ReloadReport};
    use expect_test::{Expect, expect};

    use super::{last, reload};
    use crate::paint::Paint;
    use crate::session::Live;

    /// Returns a reload of the plugin `magic_cube` that started at generation 3.
    pub(crate) fn live(outcome: Outcome) -> Live {
        let times = Phase::ALL.iter().zip([6.0, 1.2, 0.1, 0.1, 0.2, 0.3, 0.4, 0.0, 0.9]);
        let committed = outcome == Outcome::Committed;
        let mut change = PropertyChange::default();
        (change.class, change.property) = ("Game.MagicCube".into(), "rotation_speed".into());
        change.change = "default 180 → 240".into();
        (change.followed, change.kept) = (997, 3);
        let mut report = ReloadReport::default();
        report.modules = vec!["magic-cube".into()];
        (report.from, report.generation) = (3, if committed { 4 } else { 3 });
        report.outcome = outcome;
        (report.objects_kept, report.conjugates_rebuilt) = (1000, 1000);
        report.properties = vec![change];
        report.phases = Phases(times.map(|(phase, ms)| (phase.name(), ms)).collect());
        report.pause = Pause::new(Duration::from_millis(2), report.objects_kept);
        Live {
            report,
            edit_to_live_ms: committed.then_some(131.2),
            build_ms: Some(104.4),
            build_parts: Vec::new(),
            code_of: None,
        }
    }

    pub(crate) fn rolled_back() -> Outcome {
        Outcome::RolledBack { phase: Phase::Rebuild, error: "it panicked".into() }
    }

    fn check(live: &Live, expected: &Expect) {
        expected.assert_eq(&format!("{}\n{}", reload(live, Paint::off(), &mut HashSet::new()), last(live)));
    }

    /// Returns a reload that found no module to replace.
    pub(crate) fn unchanged() -> Live {
        let mut live = live(Outcome::Committed);
        live.report.generation = 3;
        live.report.properties.clear();
        live.report.warnings = vec!["no library has changed, so nothing was replaced".into()];
        live
    }

    #[test]
    fn a_reload_of_nothing_has_no_times_of_a_swap() {
        check(
            &unchanged(),
            &expect![[r#"
                generation 3 stays   its libraries are unchanged · build 104 ms
                3 stayed, nothing has changed"#]],
        );
    }

    #[test]
    fn a_reload_prints_the_waiting_time_first() {
        check(
            &live(Outcome::Committed),
            &expect![[r#"
                magic-cube  generation 3 → 4   live after 131 ms · 1,000 objects kept
                  Game.MagicCube.rotation_speed   default 180 → 240: 997 followed, 3 kept their own
                3 → 4 live after 131 ms"#]],
        );
    }

    #[test]
    fn a_rollback_has_neither_edit_nor_build() {
        let back = Live { edit_to_live_ms: None, build_ms: None, code_of: Some(1), ..live(Outcome::Committed) };
        check(
            &back,
            &expect![[r#"
                magic-cube  generation 3 → 4   swapped in 1.1 ms · 1,000 objects kept · the code of generation 1
                  Game.MagicCube.rotation_speed   default 180 → 240: 997 followed, 3 kept their own
                3 → 4 swapped in 1.1 ms"#]],
        );
    }

    #[test]
    fn a_rollback_is_printed_as_the_host_reports_it() {
        let mut failed = live(rolled_back());
        failed.report.properties.clear();
        check(
            &failed,
            &expect![[r#"
                magic-cube  generation 3 stays   the reload failed
                  rebuild: it panicked
                  everything is as it was · save again to retry
                3 stayed, the reload failed"#]],
        );
    }
}
