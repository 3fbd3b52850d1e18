//! Collects the child's messages and creates the report.

use crate::gauges;
use crate::plan::{Counted, Line, Reading, ReloadResult};
use crate::statistics::{Range, Spread, last_half, slope};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of errors in the report.
const ERRORS: usize = 20;

/// The report, with the fields of the JSON file.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) plugin: String,
    pub(crate) ok: bool,
    /// Number of committed reloads.
    pub(crate) reloads: u64,
    pub(crate) objects: u64,
    pub(crate) lost_objects: u64,
    pub(crate) wrong_answers: u64,
    /// Number of staged files that were still mapped at the end of the run. After a crash of the host, the files of its current generation
    /// do not count.
    pub(crate) stale_mappings: u64,
    pub(crate) rss_kib: Growth,
    pub(crate) open_fds: Ends,
    pub(crate) threads: Ends,
    pub(crate) thread_keys: Ends,
    /// Counts of destructors and handlers that must run at the end of a generation. Zero for plugins that do not count them.
    pub(crate) left_to_run: Counted,
    pub(crate) swap_us: Spread,
    pub(crate) rebuild_ns_per_conjugate: Spread,
    /// Time for which the world was stopped, including all waits.
    pub(crate) pause_ms: Range,
    /// The time for which the world was stopped, divided by the number of living objects, including subobjects.
    pub(crate) pause_ns_per_object: Range,
    /// Duration of each phase, by name.
    pub(crate) phases_ms: BTreeMap<String, Range>,
    pub(crate) errors: Vec<String>,
}

/// Resident memory in KiB, before the first reload and after the last reload.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Growth {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Growth in KiB per reload, by least squares over the last half of the run.
    pub(crate) slope_per_reload: f64,
}

/// A count before the first reload and after the last reload.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Ends {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Maximum number of lines from plugins that the parent prints.
const PASSED_ON: u64 = 10;

/// Collects all messages from the child, and creates the report.
#[derive(Debug, Default)]
pub(crate) struct ReportBuilder {
    /// Figures that messages change directly. The method `report` computes the remaining figures.
    report: Report,
    requested_reloads: u64,
    max_growth: f64,
    expected_output: Vec<&'static str>,
    received_outputs: u64,
    printed: u64,
    ended: bool,
    start: Reading,
    /// Readings and figures of all reloads, without messages and phases. A reload that was rolled back lacks some figures.
    results: Vec<ReloadResult>,
    phases_ms: BTreeMap<String, Vec<f64>>,
}

impl ReportBuilder {
    /// Returns a builder without messages.
    pub(crate) fn new(plugin: String, requested_reloads: u64, objects: u64, max_growth: f64) -> Self {
        let report = Report { plugin, objects, ..Report::default() };
        Self { report, requested_reloads, max_growth, ..Self::default() }
    }

    /// Adds a message from the child.
    pub(crate) fn add(&mut self, line: Line) {
        match line {
            Line::Ready { process } => self.start = process,
            Line::Reload(result) => self.add_result(*result),
            Line::End { stale_mappings, findings, counted } => {
                self.ended = true;
                (self.report.stale_mappings, self.report.left_to_run) = (stale_mappings, counted);
                self.report.wrong_answers += findings.len() as u64;
                self.add_errors(findings.into_iter().map(|message| format!("at the end: {message}")));
            }
            Line::Failed { error } => self.fail(error),
        }
    }

    /// Adds strings that each generation is expected to print before it ends.
    pub(crate) fn expect_output(&mut self, messages: impl Iterator<Item = &'static str>) {
        self.expected_output.extend(messages);
    }

    /// Adds output of a plugin, which is not a message from the child. Returns true if this output should be printed.
    pub(crate) fn add_output(&mut self, text: &str) -> bool {
        self.received_outputs +=
            self.expected_output.iter().map(|message| text.matches(message).count() as u64).sum::<u64>();
        self.printed += 1;
        self.printed <= PASSED_ON
    }

    /// Returns the faults that can be determined only after the complete run.
    fn faults(&self) -> Vec<String> {
        let readings: Vec<_> = self.results.iter().map(|result| result.process).collect();
        let mut faults = gauges::faults(&readings, self.max_growth);
        if self.report.stale_mappings > 0 {
            faults.push(format!("{} staged files are still mapped", self.report.stale_mappings));
        }
        // Counts one more generation, because the last generation ends together with the Master.
        let expected = self.expected_output.len() as u64 * (self.committed() + 1);
        if self.received_outputs != expected {
            let received = self.received_outputs;
            faults.push(format!(
                "last words without a line end: {received} received, {expected} expected: output was lost"
            ));
        }
        faults
    }

    fn add_errors(&mut self, messages: impl Iterator<Item = String>) {
        let room = ERRORS - self.report.errors.len().min(ERRORS);
        self.report.errors.extend(messages.take(room));
    }

    /// Records an error that does not belong to a reload.
    pub(crate) fn fail(&mut self, error: String) {
        // Makes space for this error, because the error ended the run, so the report must contain it.
        self.report.errors.truncate(ERRORS - 1);
        self.report.errors.push(error);
        self.ended = false;
    }

    /// Returns the number of reported reloads, including reloads with faults.
    pub(crate) fn reloads(&self) -> u64 {
        self.results.len() as u64
    }

    fn committed(&self) -> u64 {
        self.values(|result| result.swap_us).len() as u64
    }

    fn values(&self, value: fn(&ReloadResult) -> Option<f64>) -> Vec<f64> {
        self.results.iter().filter_map(value).collect()
    }

    /// Returns the resident memory after each reload, in KiB.
    pub(crate) fn memory(&self) -> Vec<f64> {
        self.values(|result| Some(result.process.rss_kib as f64))
    }

    pub(crate) fn report(&self) -> Report {
        let reloads = self.committed();
        let (start, end) = (self.start, self.results.last().map_or(self.start, |result| result.process));
        let mut faults = self.faults();
        if reloads != self.requested_reloads {
            faults.push(format!("{reloads} of {} reloads were committed", self.requested_reloads));
        }
        let mut report = self.report.clone();
        report.ok = self.ended && faults.is_empty() && report.lost_objects == 0 && report.wrong_answers == 0;
        if self.ended {
            report.errors.truncate(ERRORS.saturating_sub(faults.len()));
            report.errors.extend(faults);
        }
        Report {
            reloads,
            rss_kib: Growth {
                start: start.rss_kib,
                end: end.rss_kib,
                slope_per_reload: slope(last_half(&self.memory())),
            },
            open_fds: Ends { start: start.open_fds, end: end.open_fds },
            threads: Ends { start: start.threads, end: end.threads },
            thread_keys: Ends { start: start.keys, end: end.keys },
            swap_us: Spread::of(&self.values(|result| result.swap_us)),
            rebuild_ns_per_conjugate: Spread::of(&self.values(|result| result.rebuild_ns_per_conjugate)),
            pause_ms: Range::of(&self.values(|result| result.pause_ms)),
            pause_ns_per_object: Range::of(&self.values(|result| result.pause_ns_per_object)),
            phases_ms: self.phases_ms.iter().map(|(phase, times)| (phase.clone(), Range::of(times))).collect(),
            ..report
        }
    }

    fn add_result(&mut self, mut result: ReloadResult) {
        self.report.lost_objects += result.findings.lost_objects;
        self.report.wrong_answers += result.findings.wrong_answers;
        self.report.stale_mappings = result.stale_mappings;
        for (phase, ms) in std::mem::take(&mut result.phases_ms) {
            self.phases_ms.entry(phase).or_default().push(ms);
        }
        let messages = std::mem::take(&mut result.findings.messages).into_iter();
        self.add_errors(messages.map(|message| format!("reload {}: {message}", result.reload)));
        self.results.push(result);
    }
}

#[cfg(test)]
mod tests {
    use super::{ERRORS, Report, ReportBuilder};
    use crate::findings::Findings;
    use crate::plan::{Counted, Line, Reading, ReloadResult};

    fn sound(reload: u64) -> ReloadResult {
        let process = Reading { rss_kib: 100 + reload, open_fds: 7, threads: 3, keys: 4 };
        let rebuild_ns_per_conjugate = Some(20.0);
        ReloadResult {
            reload,
            swap_us: Some(reload as f64),
            rebuild_ns_per_conjugate,
            pause_ms: Some(reload as f64 * 2.0),
            pause_ns_per_object: Some(reload as f64 * 200.0),
            phases_ms: [("quiesce".to_owned(), reload as f64)].into(),
            process,
            ..ReloadResult::default()
        }
    }

    fn check(reloads: Vec<ReloadResult>, last: Option<Line>) -> Report {
        let mut builder = ReportBuilder::new("magic-cube".into(), 4, 10, 4.0);
        builder.add(Line::Ready { process: Reading { rss_kib: 90, open_fds: 6, threads: 2, keys: 4 } });
        reloads.into_iter().for_each(|result| builder.add(Line::Reload(Box::new(result))));
        last.into_iter().for_each(|line| builder.add(line));
        builder.report()
    }

    fn end() -> Option<Line> {
        Some(Line::End { stale_mappings: 0, findings: Vec::new(), counted: Counted::default() })
    }

    #[test]
    fn a_sound_run_has_this_report() {
        let report = check((1..=4).map(sound).collect(), end());
        let text = serde_json::to_string_pretty(&report).expect("a report");
        expect_test::expect![[r#"
            {
              "plugin": "magic-cube",
              "ok": true,
              "reloads": 4,
              "objects": 10,
              "lost_objects": 0,
              "wrong_answers": 0,
              "stale_mappings": 0,
              "rss_kib": {
                "start": 90,
                "end": 104,
                "slope_per_reload": 1.0
              },
              "open_fds": {
                "start": 6,
                "end": 7
              },
              "threads": {
                "start": 2,
                "end": 3
              },
              "thread_keys": {
                "start": 4,
                "end": 4
              },
              "left_to_run": {
                "registered": 0,
                "run": 0,
                "elsewhere": 0
              },
              "swap_us": {
                "p50": 2.0,
                "p95": 4.0,
                "max": 4.0
              },
              "rebuild_ns_per_conjugate": {
                "p50": 20.0,
                "p95": 20.0,
                "max": 20.0
              },
              "pause_ms": {
                "min": 2.0,
                "median": 4.0,
                "max": 8.0
              },
              "pause_ns_per_object": {
                "min": 200.0,
                "median": 400.0,
                "max": 800.0
              },
              "phases_ms": {
                "quiesce": {
                  "min": 1.0,
                  "median": 2.0,
                  "max": 4.0
                }
              },
              "errors": []
            }"#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_run_is_not_ok_until_all_of_it_is_sound() {
        let verdict = |reloads: Vec<ReloadResult>, last| check(reloads, last).ok;
        assert!(verdict((1..=4).map(sound).collect(), end()));
        assert!(!verdict((1..=3).map(sound).collect(), end()), "a reload is missing");
        assert!(!verdict((1..=4).map(sound).collect(), None), "it did not come to its end");
        assert!(!verdict((1..=4).map(sound).collect(), Some(Line::Failed { error: "no".into() })));
        let with = |change: fn(&mut ReloadResult)| {
            let mut reloads: Vec<_> = (1..=4).map(sound).collect();
            change(&mut reloads[2]);
            verdict(reloads, end())
        };
        assert!(!with(|result| result.findings.lost_objects = 1));
        assert!(!with(|result| result.findings.wrong_answers = 1));
        assert!(!with(|result| result.swap_us = None), "one was rolled back");
        let ended = |stale_mappings, findings| {
            verdict(
                (1..=4).map(sound).collect(),
                Some(Line::End { stale_mappings, findings, counted: Counted::default() }),
            )
        };
        assert!(!ended(1, Vec::new()), "an image is still mapped");
        assert!(!ended(0, vec!["a destructor did not run".into()]));
    }

    #[test]
    fn the_final_error_is_reported_even_after_many_findings() {
        let messages = (0..ERRORS).map(|number| format!("wrong {number}")).collect();
        let findings = Findings { lost_objects: 0, wrong_answers: 100, messages };
        let result = ReloadResult { findings, ..sound(1) };
        let report = check(vec![result.clone(), result], Some(Line::Failed { error: "the host crashed".into() }));
        assert_eq!((report.errors.len(), report.wrong_answers), (ERRORS, 200));
        assert_eq!(report.errors[0], "reload 1: wrong 0");
        assert_eq!(report.errors[ERRORS - 1], "the host crashed");
    }

    #[test]
    fn every_generation_must_print_its_last_words() {
        let mut builder = ReportBuilder::new("everything-unloads".into(), 1, 10, 4.0);
        builder.expect_output(["last words"].into_iter());
        builder.add(Line::Ready { process: Reading::default() });
        assert!(builder.add_output("a line"));
        assert!(builder.add_output("last words"));
        builder.add(Line::Reload(Box::new(sound(1))));
        builder.add(end().expect("an end"));
        let report = builder.report();
        assert!(!report.ok);
        assert_eq!(report.errors, ["last words without a line end: 1 received, 2 expected: output was lost"]);
        assert!(builder.add_output("last words"));
        assert!(builder.report().ok);
        for _ in 0..100 {
            builder.add_output("a line");
        }
        assert!(!builder.add_output("a line"), "the limit is reached");
    }

    #[test]
    fn a_crashed_host_keeps_its_earlier_messages() {
        let mut builder = ReportBuilder::new("magic-cube".into(), 4, 10, 4.0);
        builder.add(Line::Ready { process: Reading::default() });
        builder.add(Line::Reload(Box::new(sound(1))));
        builder.fail("the host crashed after reload 1: signal: 6 (SIGABRT)".into());
        let report = builder.report();
        assert_eq!((report.ok, report.reloads, report.rss_kib.end), (false, 1, 101));
        assert_eq!(report.errors, ["the host crashed after reload 1: signal: 6 (SIGABRT)"]);
    }
}
