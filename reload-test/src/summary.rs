//! Prints the report as text: first the verdict, then the figures and the memory curve.

use crate::plan::Counted;
use crate::report::Report;
use crate::statistics::{Range, Spread, curve, sparkline};
use alcedo_runtime::Phase;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

const POINTS: usize = 10;

/// Prints `report`, with the curve of `memory` (KiB after each reload), on standard output.
pub(crate) fn print(report: &Report, memory: &[f64]) -> io::Result<()> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, report, memory);
    io::stdout().lock().write_all(text.as_bytes())
}

fn write(out: &mut String, report: &Report, memory: &[f64]) -> fmt::Result {
    let verdict = if report.ok { "all kept" } else { "FAILED" };
    writeln!(out, "{}  {} reloads × {} objects: {verdict}", report.plugin, report.reloads, report.objects)?;
    if !memory.is_empty() {
        numbers(out, report, memory)?;
    }
    for error in &report.errors {
        writeln!(out, "  {error}")?;
    }
    Ok(())
}

fn numbers(out: &mut String, report: &Report, memory: &[f64]) -> fmt::Result {
    let Report { lost_objects, wrong_answers, stale_mappings, .. } = report;
    writeln!(out, "  lost objects {lost_objects} · wrong answers {wrong_answers} · stale mappings {stale_mappings}")?;
    let spread = |Spread { p50, p95, max }: Spread| format!("p50 {p50:.0} · p95 {p95:.0} · max {max:.0}");
    writeln!(out, "  swap         {} µs", spread(report.swap_us))?;
    writeln!(out, "  rebuild      {} ns per conjugate", spread(report.rebuild_ns_per_conjugate))?;
    pauses(out, report)?;
    let (rss, fds, threads) = (&report.rss_kib, &report.open_fds, &report.threads);
    let slope = rss.slope_per_reload;
    writeln!(out, "  memory       {} → {} KiB · {slope:+.3} KiB per reload over the last half", rss.start, rss.end)?;
    let points = curve(memory, POINTS);
    let values: Vec<_> = points.iter().map(|kib| format!("{kib:.0}")).collect();
    writeln!(out, "               {}  {} KiB", sparkline(&points), values.join(" "))?;
    writeln!(out, "  open files   {} → {} · threads {} → {}", fds.start, fds.end, threads.start, threads.end)?;
    let (keys, left) = (&report.thread_keys, report.left_to_run);
    writeln!(out, "  thread keys  {} → {}", keys.start, keys.end)?;
    if left.registered > 0 {
        let Counted { registered, run, elsewhere } = left;
        writeln!(out, "  left to run  {registered} registered · {run} run · {elsewhere} of them on another thread")?;
    }
    Ok(())
}

/// Writes the pause in total and per object, followed by the phases in order.
fn pauses(out: &mut String, report: &Report) -> fmt::Result {
    let range = |Range { min, median, max }: Range| format!("min {min:.2} · median {median:.2} · max {max:.2} ms");
    let Range { min, median, max } = report.pause_ns_per_object;
    writeln!(out, "  pause        {}", range(report.pause_ms))?;
    writeln!(out, "               min {min:.0} · median {median:.0} · max {max:.0} ns per object")?;
    let phases = Phase::ALL.into_iter().filter_map(|phase| Some((phase.name(), *report.phases_ms.get(phase.name())?)));
    for (at, (phase, times)) in phases.enumerate() {
        let label = if at == 0 { "phases" } else { "" };
        writeln!(out, "  {label:<13}{phase:<9}{}", range(times))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::plan::Counted;
    use crate::report::{Ends, Growth, Report};
    use crate::statistics::{Range, Spread};

    fn range(ms: f64) -> Range {
        Range { min: ms, median: ms * 2.0, max: ms * 3.0 }
    }

    #[test]
    fn a_summary_reads_as_a_few_lines() {
        let report = Report {
            plugin: "magic-cube".into(),
            ok: false,
            reloads: 200,
            objects: 1000,
            lost_objects: 0,
            wrong_answers: 1,
            stale_mappings: 0,
            rss_kib: Growth { start: 20_000, end: 21_000, slope_per_reload: 0.0204 },
            open_fds: Ends { start: 9, end: 9 },
            threads: Ends { start: 2, end: 3 },
            thread_keys: Ends { start: 4, end: 4 },
            left_to_run: Counted { registered: 5, run: 5, elsewhere: 0 },
            swap_us: Spread { p50: 812.4, p95: 1034.0, max: 2101.0 },
            rebuild_ns_per_conjugate: Spread { p50: 210.0, p95: 250.0, max: 900.0 },
            pause_ms: Range { min: 0.9, median: 1.0, max: 2.3 },
            pause_ns_per_object: Range { min: 450.0, median: 500.0, max: 1150.0 },
            phases_ms: [("stage", 1.5), ("retire", 0.1)].map(|(phase, ms)| (phase.to_owned(), range(ms))).into(),
            errors: vec!["reload 7: stale code".into()],
        };
        let memory: Vec<_> = (0..200).map(|reload| 20_000.0 + f64::from(reload) * 5.0).collect();
        let mut text = String::new();
        write(&mut text, &report, &memory).expect("a string takes all");
        expect_test::expect![[r#"
            magic-cube  200 reloads × 1000 objects: FAILED
              lost objects 0 · wrong answers 1 · stale mappings 0
              swap         p50 812 · p95 1034 · max 2101 µs
              rebuild      p50 210 · p95 250 · max 900 ns per conjugate
              pause        min 0.90 · median 1.00 · max 2.30 ms
                           min 450 · median 500 · max 1150 ns per object
              phases       stage    min 1.50 · median 3.00 · max 4.50 ms
                           retire   min 0.10 · median 0.20 · max 0.30 ms
              memory       20000 → 21000 KiB · +0.020 KiB per reload over the last half
                           ▁▂▃▃▄▅▆▆▇█  20048 20148 20248 20348 20448 20548 20648 20748 20848 20948 KiB
              open files   9 → 9 · threads 2 → 3
              thread keys  4 → 4
              left to run  5 registered · 5 run · 0 of them on another thread
              reload 7: stale code
        "#]]
        .assert_eq(&text);
    }
}
