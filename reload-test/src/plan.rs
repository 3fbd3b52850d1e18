//! Messages between the parent and the child. The parent writes a plan, and the child responds with lines.

use crate::findings::Findings;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Names of the subjects, the tested plugins.
    pub(crate) plugins: Vec<String>,
    /// Builds between which the host reloads. The list has at least two builds.
    pub(crate) builds: Vec<Build>,
    pub(crate) reloads: u64,
    /// Total number of objects of all subjects.
    pub(crate) objects: usize,
    /// Seed that selects the samples of objects.
    pub(crate) seed: u64,
    /// File in which plugins count their destructors and handlers.
    pub(crate) counters: PathBuf,
    /// Set if each module is first loaded in a canary, a separate process that detects crashes.
    pub(crate) canary: bool,
    /// Set if plugins panic after each reload.
    pub(crate) panic_each: bool,
    pub(crate) injected_fault: Option<InjectedFault>,
}

impl Plan {
    /// Returns the build that is live after `reload`. The host starts with build zero.
    pub(crate) fn build(&self, reload: u64) -> &Build {
        &self.builds[(reload % self.builds.len() as u64) as usize]
    }
}

/// A build of all libraries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Build {
    /// Id that the libraries of this build contain. Each build has a different id.
    pub(crate) tag: u64,
    pub(crate) libraries: Vec<PathBuf>,
}

/// A fault to inject, to check that the test detects the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InjectedFault {
    /// Report the code of another build after every reload.
    WrongTag,
    /// Destroy an object after the second reload.
    LoseObject,
    /// Change a value of an object after the second reload.
    ChangeValue,
    /// Register a destructor that never runs, in each generation.
    Uncounted,
    /// Start a thread that never ends, in each generation.
    Endless,
    /// Leak an open file in the host in each reload.
    LeakFile,
    /// Leak half a megabyte in the host in each reload, which is more than the free space of its heap.
    LeakMemory,
    /// Abort the host after the second reload.
    Abort,
    /// Hang the host after the second reload.
    Hang,
}

/// A message from the child, printed as a line with a JSON object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "line")]
pub(crate) enum Line {
    /// The first build is live and the objects exist.
    Ready {
        /// Measurements before the first reload.
        process: Reading,
    },
    /// A reload has ended, and its checks have run.
    Reload(Box<ReloadResult>),
    /// The Master is unloaded, and the run is complete.
    End {
        /// Staged files that are still mapped.
        stale_mappings: u64,
        /// Errors in the last generation and in the final checks.
        findings: Vec<String>,
        /// Counted destructors and handlers, over all generations.
        counted: Counted,
    },
    Failed {
        /// Message of the error that ended the run.
        error: String,
    },
}

impl Line {
    const BEGINNING: &str = "{\"line\":";

    /// Splits `text` into the output of a plugin and a line of the child. Output without a line feed at its end may precede the line.
    pub(crate) fn parse(text: &str) -> (&str, Option<Self>) {
        let starts = text.match_indices(Self::BEGINNING);
        let line = |at: usize| Some((&text[..at], serde_json::from_str(&text[at..]).ok()?));
        starts.into_iter().find_map(|(at, _)| line(at)).map_or((text, None), |(others, line)| (others, Some(line)))
    }
}

/// Results of one reload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReloadResult {
    /// Number of the reload, counted from one.
    pub(crate) reload: u64,
    /// Duration in microseconds from quiesce to commit. `None` if the reload was rolled back.
    pub(crate) swap_us: Option<f64>,
    /// Time in milliseconds for which the world was stopped, including all waits. `None` if the reload was rolled back.
    pub(crate) pause_ms: Option<f64>,
    /// Pause in nanoseconds, divided by the number of living objects. `None` if the reload was rolled back, or if no object exists.
    pub(crate) pause_ns_per_object: Option<f64>,
    /// Milliseconds of each phase, by name. Empty if the reload was rolled back.
    pub(crate) phases_ms: BTreeMap<String, f64>,
    /// Time in nanoseconds for rebuilding plugin parts, divided by the number of rebuilt parts. `None` if no part was rebuilt.
    pub(crate) rebuild_ns_per_conjugate: Option<f64>,
    pub(crate) findings: Findings,
    /// Number of mapped staged files that do not belong to the current generation.
    pub(crate) stale_mappings: u64,
    pub(crate) process: Reading,
}

/// Measurements of a process that change if the process leaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// Resident memory in KiB.
    pub(crate) rss_kib: u64,
    pub(crate) open_fds: u64,
    pub(crate) threads: u64,
    /// Thread-specific keys.
    pub(crate) keys: u64,
}

/// Counts of the destructors and handlers that must run at the end of generations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Number of registered destructors and handlers.
    pub(crate) registered: u64,
    /// Number of destructors and handlers that have run.
    pub(crate) run: u64,
    /// Number of runs on a thread other than the thread that registered the destructor or handler.
    pub(crate) elsewhere: u64,
}

#[cfg(test)]
mod tests {
    use super::{Build, Counted, Findings, Line, Plan, Reading, ReloadResult};
    use std::path::PathBuf;

    #[test]
    fn builds_alternate() {
        let build = |tag| Build { tag, libraries: Vec::new() };
        let builds = vec![build(1), build(2), build(3)];
        let plan = Plan {
            plugins: Vec::new(),
            builds,
            reloads: 5,
            objects: 0,
            seed: 1,
            counters: PathBuf::new(),
            canary: true,
            panic_each: false,
            injected_fault: None,
        };
        assert_eq!([0, 1, 2, 3, 4].map(|reload| plan.build(reload).tag), [1, 2, 3, 1, 2]);
    }

    #[test]
    fn output_before_a_line_is_separated_from_the_line() {
        let end = Line::Failed { error: r#"{"line":"#.into() };
        let text = serde_json::to_string(&end).expect("a line");
        assert_eq!(Line::parse(&text), ("", Some(end.clone())));
        assert_eq!(Line::parse(&format!("last words{text}")), ("last words", Some(end)));
        assert_eq!(Line::parse(r#"{"line":1}"#), (r#"{"line":1}"#, None));
        assert_eq!(Line::parse("a word"), ("a word", None));
    }

    #[test]
    fn a_line_survives_serialization() {
        let process = Reading { rss_kib: 1, open_fds: 2, threads: 3, keys: 4 };
        let result = ReloadResult {
            reload: 1,
            swap_us: Some(2.5),
            pause_ms: Some(1.5),
            phases_ms: [("stage".to_owned(), 0.5)].into(),
            findings: Findings { messages: vec!["a\nb".into()], ..Findings::default() },
            process,
            ..ReloadResult::default()
        };
        let failed = Line::Failed { error: "no".into() };
        let counted = Counted { registered: 3, run: 2, elsewhere: 1 };
        let end = Line::End { stale_mappings: 1, findings: vec!["c".into()], counted };
        for line in [Line::Ready { process }, Line::Reload(Box::new(result)), end, failed] {
            let text = serde_json::to_string(&line).expect("a line");
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(serde_json::from_str::<Line>(&text).expect("the same line"), line);
        }
    }
}
