//! Messages about builds and reloads for the user, shared by `dev` and `demo`. Values in, text out.

use alcedo_runtime::ReloadReport;

use crate::paint::Paint;
use crate::session::Live;

/// Formats a reload: the host's report, with the time since the save and the build time before its phases, since a
/// person waits for these.
pub(crate) fn reload(live: &Live, paint: Paint) -> String {
    let report = live.report.to_string();
    let (head, rest) = report.split_once('\n').unwrap_or((&report, ""));
    // The head is a title and a remark, separated by three spaces.
    let (title, remark) = head.rsplit_once("   ").unwrap_or((head, ""));
    if !live.report.is_committed() {
        // The host cannot know that the sources are watched.
        let rest = format!("\n{rest}").replacen(
            "\n  everything is as it was",
            "\n  everything is as it was · save again to retry",
            1,
        );
        return format!("{}   {}{rest}", paint.bold(title), paint.red(remark));
    }
    if is_unchanged(&live.report) {
        let build = live.build_ms.map_or_else(String::new, |ms| format!(" · build {ms:.0} ms"));
        let rest = if rest.is_empty() { String::new() } else { format!("\n{rest}") };
        return format!("{}{build}{rest}", paint.bold(title));
    }
    let remark = live.edit_to_live_ms.map_or_else(|| remark.to_owned(), |ms| format!("live after {ms:.0} ms"));
    let build = live.build_ms.map_or_else(String::new, |ms| format!("build {ms:.0} · "));
    let mut text = format!("{}   {}\n  {build}{}", paint.bold(title), paint.green(&remark), rest.trim_start());
    if let Some(generation) = live.code_of {
        text.push_str(&format!("\n  this is the code of generation {generation}"));
    }
    text
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
    use alcedo_runtime::{Outcome, Phase, Phases, PropertyChange, ReloadReport};
    use expect_test::{Expect, expect};

    use super::{last, reload};
    use crate::paint::Paint;
    use crate::session::Live;

    /// Returns a reload of the magic cube from generation 3.
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
        Live { report, edit_to_live_ms: committed.then_some(131.2), build_ms: Some(104.4), code_of: None }
    }

    pub(crate) fn rolled_back() -> Outcome {
        Outcome::RolledBack { phase: Phase::Rebuild, error: "it panicked".into() }
    }

    fn check(live: &Live, expected: &Expect) {
        expected.assert_eq(&format!("{}\n{}", reload(live, Paint::for_tests()), last(live)));
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
                generation 3 stays as it is · build 104 ms
                  no library has changed, so nothing was replaced
                3 stayed, nothing has changed"#]],
        );
    }

    #[test]
    fn a_reload_prints_the_waiting_time_first() {
        check(
            &live(Outcome::Committed),
            &expect![[r#"
                magic-cube  generation 3 → 4   live after 131 ms
                  build 104 · stage 6.0 · canary 1.2 · quiesce 0.1 · start 0.1 · classes 0.2 · migrate 0.3 · rebuild 0.4 · commit 0.0 · retire 0.9 ms
                  1,000 objects kept · 1,000 conjugates rebuilt · 0 class constructors rerun
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
                magic-cube  generation 3 → 4   swapped in 1.1 ms
                  stage 6.0 · canary 1.2 · quiesce 0.1 · start 0.1 · classes 0.2 · migrate 0.3 · rebuild 0.4 · commit 0.0 · retire 0.9 ms
                  1,000 objects kept · 1,000 conjugates rebuilt · 0 class constructors rerun
                  Game.MagicCube.rotation_speed   default 180 → 240: 997 followed, 3 kept their own
                  this is the code of generation 1
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
