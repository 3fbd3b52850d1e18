//! What the two processes say to each other: the parent gives a plan, the child answers in lines.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the child is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Names of the subjects.
    pub(crate) plugins: Vec<String>,
    /// The builds to swap between, at least two.
    pub(crate) builds: Vec<Build>,
    /// How many reloads.
    pub(crate) reloads: u64,
    /// How many objects, over all subjects.
    pub(crate) objects: usize,
    /// Chooses the samples.
    pub(crate) seed: u64,
    /// The file in which plugins count what they leave to be run.
    pub(crate) tally: PathBuf,
    /// Whether modules are tried in a process of their own first.
    pub(crate) canary: bool,
    /// Whether to make the plugins panic after each reload.
    pub(crate) panic_each: bool,
    /// What to break on purpose.
    pub(crate) sabotage: Option<Sabotage>,
}

impl Plan {
    /// The build that is live after `reload`, where the zeroth is the one that the host starts with.
    pub(crate) fn build(&self, reload: u64) -> &Build {
        &self.builds[(reload % self.builds.len() as u64) as usize]
    }
}

/// One build of all libraries concerned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Build {
    /// The id compiled into it, by which it is told from the others.
    pub(crate) tag: u64,
    /// The libraries.
    pub(crate) libraries: Vec<PathBuf>,
}

/// A fault planted on purpose: a test that cannot fail shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sabotage {
    /// Every reload seems to have brought the code of another build.
    WrongTag,
    /// The second reload seems to have lost an object.
    LoseObject,
    /// The second reload seems to have changed a value.
    ChangeValue,
    /// Each generation counts a destructor that never runs.
    Uncounted,
    /// Each generation starts a thread that never ends.
    Endless,
    /// Each reload leaks a file of the host's own.
    LeakFile,
    /// Each reload leaks half a megabyte of the host's own: more than what is free in its heap lasts for.
    LeakMemory,
    /// The host dies after the second reload.
    Abort,
    /// The host says nothing more after the second reload.
    Hang,
}

/// What the child says, one JSON object a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "line")]
pub(crate) enum Line {
    /// The first build is live and the objects stand.
    Ready {
        /// The process now.
        process: Reading,
    },
    /// One reload was done and looked at.
    Reload(Box<Seen>),
    /// The Master is gone.
    End {
        /// Staged files that are still mapped.
        stale_mappings: u64,
        /// What was found wrong with the last generation.
        findings: Vec<String>,
        /// Destructors, handlers and the like that were counted, all generations together.
        counted: Counted,
    },
    /// It cannot go on.
    Failed {
        /// What was tried, on what, and the way out.
        error: String,
    },
}

impl Line {
    /// How every line begins.
    const BEGINNING: &str = "{\"line\":";

    /// The line in `text`, and what somebody else printed before it: whoever prints no line end has ours behind theirs.
    pub(crate) fn parse(text: &str) -> (&str, Option<Self>) {
        let starts = text.match_indices(Self::BEGINNING);
        let line = |at: usize| Some((&text[..at], serde_json::from_str(&text[at..]).ok()?));
        starts.into_iter().find_map(|(at, _)| line(at)).map_or((text, None), |(others, line)| (others, Some(line)))
    }
}

/// What was seen of one reload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Counted from one.
    pub(crate) reload: u64,
    /// Microseconds that the world stood still; none if the reload was rolled back.
    pub(crate) swap_us: Option<f64>,
    /// Nanoseconds per plugin part built anew; none if there was none.
    pub(crate) rebuild_ns_per_conjugate: Option<f64>,
    /// Objects that lived before this reload and not after it.
    pub(crate) lost_objects: u64,
    /// Checks that failed, lost objects aside.
    pub(crate) wrong_answers: u64,
    /// The first of them in words, with those of lost objects.
    pub(crate) findings: Vec<String>,
    /// Staged files that are mapped, beyond those of the living generation.
    pub(crate) stale_mappings: u64,
    /// The process now.
    pub(crate) process: Reading,
}

/// What a leak would show in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// Resident memory in KiB.
    pub(crate) rss_kib: u64,
    /// Open file descriptors.
    pub(crate) open_fds: u64,
    /// Threads.
    pub(crate) threads: u64,
    /// Thread-specific keys.
    pub(crate) keys: u64,
}

/// What was left to be run at the end of generations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// How many there were.
    pub(crate) registered: u64,
    /// How many ran.
    pub(crate) run: u64,
    /// How many of those ran on another thread than the one that registered them.
    pub(crate) elsewhere: u64,
}

#[cfg(test)]
mod tests {
    use super::{Build, Counted, Line, Plan, Reading, Seen};
    use std::path::PathBuf;

    #[test]
    fn builds_take_turns() {
        let build = |tag| Build { tag, libraries: Vec::new() };
        let builds = vec![build(1), build(2), build(3)];
        let plan = Plan {
            plugins: Vec::new(),
            builds,
            reloads: 5,
            objects: 0,
            seed: 1,
            tally: PathBuf::new(),
            canary: true,
            panic_each: false,
            sabotage: None,
        };
        assert_eq!([0, 1, 2, 3, 4].map(|reload| plan.build(reload).tag), [1, 2, 3, 1, 2]);
    }

    #[test]
    fn what_others_print_before_a_line_is_told_from_it() {
        let end = Line::Failed { error: r#"{"line":"#.into() };
        let text = serde_json::to_string(&end).expect("a line");
        assert_eq!(Line::parse(&text), ("", Some(end.clone())));
        assert_eq!(Line::parse(&format!("last words{text}")), ("last words", Some(end)));
        assert_eq!(Line::parse(r#"{"line":1}"#), (r#"{"line":1}"#, None));
        assert_eq!(Line::parse("a word"), ("a word", None));
    }

    #[test]
    fn a_line_is_the_same_on_the_other_side() {
        let process = Reading { rss_kib: 1, open_fds: 2, threads: 3, keys: 4 };
        let seen = Seen { reload: 1, swap_us: Some(2.5), findings: vec!["a\nb".into()], process, ..Seen::default() };
        let failed = Line::Failed { error: "no".into() };
        let counted = Counted { registered: 3, run: 2, elsewhere: 1 };
        let end = Line::End { stale_mappings: 1, findings: vec!["c".into()], counted };
        for line in [Line::Ready { process }, Line::Reload(Box::new(seen)), end, failed] {
            let text = serde_json::to_string(&line).expect("a line");
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(serde_json::from_str::<Line>(&text).expect("the same line"), line);
        }
    }
}
