//! Checks a recorded session. The record contains writes of files, lines of `alcedo dev`, and ticks of the plugin, each with its time. The
//! check performs no IO and reads no clock.

use std::time::Duration;

/// Time limit for the load of a build that ends during a save, on a busy machine. A save before the end of a build cancels the build.
const LOAD: Duration = Duration::from_secs(3);

/// Parts of the plugin that contain a number. A tick contains the numbers in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Source,
    /// A file that the source includes as a string.
    Included,
    /// A crate of the workspace that the plugin links.
    Dependency,
    /// A variable that the compiler reads.
    Environment,
    /// Many source files that contain the same number.
    Modules,
}

impl Part {
    pub(super) const ALL: [Self; 5] =
        [Self::Source, Self::Included, Self::Dependency, Self::Environment, Self::Modules];
}

/// Content of a part from the end of a write to the end of the next write.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) part: Part,
    pub(super) value: String,
    pub(super) ended: Duration,
}

/// A line that `alcedo dev` prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Building,
    Canceled,
    Live,
    Unchanged,
    NotBuilt,
    Status {
        building: bool,
    },
    /// A message that must never appear.
    Unexpected(String),
    Other,
}

impl Line {
    /// Classifies a line of `alcedo dev` on a pipe.
    pub(super) fn of(line: &str) -> Self {
        let has = |text| line.contains(text);
        if line == "building" || line.starts_with("building, because ") {
            Self::Building
        } else if has("the build is canceled") {
            Self::Canceled
        } else if has("the reload failed")
            || has("not loaded:")
            || has("not confirmed:")
            || has("it hangs:")
            || has("the host crashed")
            || has("the host ended")
            || line.starts_with("failed:")
        {
            Self::Unexpected(line.to_owned())
        } else if has(" ticks/s") {
            Self::Status { building: has(" · building") }
        } else if has("generation ") && (has(" → ") || has(" is live")) {
            Self::Live
        } else if line.starts_with("saved, but ") || (line.starts_with("generation ") && has(" stays")) {
            Self::Unchanged
        } else if has("the old code keeps running") {
            Self::NotBuilt
        } else {
            Self::Other
        }
    }
}

/// The ticks of one loaded library, with the values of all parts.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) first: Duration,
    pub(super) last: Duration,
    pub(super) values: Vec<String>,
}

/// All events since the last save, and the state before this save.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) writes: Vec<Write>,
    pub(super) lines: Vec<(Duration, Line)>,
    pub(super) runs: Vec<Run>,
}

impl Record {
    /// Adds a line that the plugin wrote in a tick: nanoseconds since the Unix epoch, id of the loaded library, values.
    pub(super) fn tick(&mut self, line: &str) {
        let mut words = line.split(' ').map(str::to_owned);
        let at = words.next().and_then(|nanos| nanos.parse().ok()).map(Duration::from_nanos);
        let (Some(at), Some(id)) = (at, words.next()) else { panic!("not a tick: {line}") };
        match self.runs.iter_mut().find(|run| run.id == id) {
            Some(run) => run.last = at,
            None => self.runs.push(Run { id, first: at, last: at, values: words.collect() }),
        }
    }

    /// Removes the entries that the check of the next save does not need.
    pub(super) fn forget(&mut self) {
        self.lines.clear();
        self.runs.drain(..self.runs.len().saturating_sub(1));
        let last = Part::ALL.map(|part| self.writes.iter().rposition(|write| write.part == part));
        self.writes = last.into_iter().flatten().map(|at| self.writes[at].clone()).collect();
    }

    /// Returns the values of the running code. Returns an empty slice before the first tick.
    pub(super) fn running(&self) -> &[String] {
        self.runs.last().map_or(&[], |run| &run.values)
    }

    /// Returns the values on the disk.
    pub(super) fn saved(&self) -> Vec<String> {
        let last = Part::ALL.map(|part| self.writes.iter().rfind(|write| write.part == part));
        last.map(|write| write.map(|write| write.value.clone()).unwrap_or_default()).into()
    }

    pub(super) fn count(&self, line: &Line) -> usize {
        self.lines.iter().filter(|(_, other)| other == line).count()
    }

    /// Returns true if the saved content runs, `alcedo dev` has reported a result, and no event has occurred for the time `quiet`.
    pub(super) fn is_settled(&self, now: Duration, quiet: Duration) -> bool {
        let last = self.lines.iter().rfind(|(_, line)| !matches!(line, Line::Other | Line::Status { .. }));
        let Some((at, Line::Live | Line::Unchanged | Line::NotBuilt)) = last else { return false };
        let written = self.writes.iter().map(|write| write.ended).max().unwrap_or_default();
        let ticked = self.runs.last().is_some_and(|run| run.last > *at);
        ticked && now.saturating_sub(written.max(*at)) > quiet && self.running() == self.saved()
    }

    /// Returns a sentence for each problem in the record.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut builds = Vec::new();
        let mut lives = 0;
        for (at, line) in &self.lines {
            match line {
                Line::Building => builds.push(*at),
                Line::Canceled | Line::NotBuilt => drop(builds.pop()),
                Line::Unchanged if !builds.is_empty() => drop(builds.remove(0)),
                Line::Live if builds.is_empty() => problems.push("live without a build".to_owned()),
                Line::Live => {
                    lives += 1;
                    self.check_live(builds.remove(0), *at, &mut problems);
                }
                Line::Unexpected(line) => problems.push(format!("unexpected: {line}")),
                Line::Unchanged | Line::Status { .. } | Line::Other => {}
            }
        }
        let began = self.runs.len().saturating_sub(1);
        // `alcedo dev` may not yet have printed the line for the latest library.
        if began > lives + 1 {
            problems.push(format!("{began} libraries ran, and {lives} were reported as live"));
        }
        problems
    }

    /// Checks a generation that was reported as live at `live`, and whose build began at `building`.
    fn check_live(&self, building: Duration, live: Duration, problems: &mut Vec<String>) {
        if let Some(old) = self.runs.iter().find(|run| run.first < building && run.last > live) {
            let early = (old.last - live).as_secs_f64() * 1000.0;
            problems.push(format!("live was reported, and {:?} still ran {early:.1} ms later", old.values));
        }
        // The code may have been replaced before its next tick. The next library is then checked instead, because each of its parts is at
        // least as new.
        let Some(new) = self.runs.iter().find(|run| run.first >= building && run.last > live) else { return };
        for (part, value) in Part::ALL.iter().zip(&new.values) {
            let writes: Vec<_> = self.writes.iter().filter(|write| write.part == *part).collect();
            let Some(at) = writes.iter().rposition(|write| write.value == *value) else {
                problems.push(format!("the code of {part:?} that is live, {value}, was never saved"));
                continue;
            };
            let Some(next) = writes.get(at + 1) else { continue };
            if next.ended < building {
                problems.push(format!("{part:?} {value} is live, which was replaced before the build began"));
            } else if next.ended + LOAD < live {
                problems.push(format!("{part:?} {value} is live, which was replaced during the build"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Line, Part, Record, Write};

    const LINES: [(&str, Line); 5] = [
        ("building", Line::Building),
        ("canceled", Line::Canceled),
        ("live", Line::Live),
        ("unchanged", Line::Unchanged),
        ("error", Line::NotBuilt),
    ];

    /// Parses a record. `9=7` is a write of 7 to the source that ended at 9. `5:live` is a line at 5. `6.1=7` is a tick at 6 of the library
    /// 1 with the source 7. Times are in seconds.
    fn record(script: &str) -> Record {
        let mut record = Record::default();
        for step in script.split(' ') {
            if let Some((at, line)) = step.split_once(':') {
                let line = LINES.iter().find(|(word, _)| *word == line).unwrap().1.clone();
                record.lines.push((Duration::from_secs(at.parse().unwrap()), line));
                continue;
            }
            let (left, right) = step.split_once('=').unwrap();
            if let Some((at, id)) = left.split_once('.') {
                record.tick(&format!("{at}000000000 {id} {right}"));
            } else {
                let ended = Duration::from_secs(left.parse().unwrap());
                record.writes.push(Write { part: Part::Source, value: right.to_owned(), ended });
            }
        }
        record
    }

    fn check(script: &str, expected: &[&str]) {
        assert_eq!(record(script).problems(), expected, "{script}");
    }

    #[test]
    fn a_save_that_runs_when_it_is_reported_is_right() {
        check("0=1 1.a=1 10=2 11:building 12.a=1 13.b=2 14:live 15.b=2", &[]);
        check("0=1 1.a=1 10=2 11:building 12:error 20=3 21:building 22.b=3 23:live 24.b=3", &[]);
        check("0=1 1.a=1 10=2 11:building 12=3 12:canceled 12:building 14.b=3 15:live 16.b=3", &[]);
        // The second save occurs during the load of the first content.
        check("0=1 1.a=1 10=2 11:building 15=3 15:building 16:live 17.b=2 18.c=3 19:live 20.c=3", &[]);
    }

    #[test]
    fn planted_lies_are_found() {
        check(
            "0=1 1.a=1 10=2 11:building 12:live 13.a=1 14.b=2",
            &[r#"live was reported, and ["1"] still ran 1000.0 ms later"#],
        );
        check(
            "0=1 1.a=1 10=2 11:building 13.b=1 14:live 15.b=1",
            &["Source 1 is live, which was replaced before the build began"],
        );
        check(
            "0=1 1.a=1 10=2 11:building 12=3 19.b=2 20:live 21.b=2",
            &["Source 2 is live, which was replaced during the build"],
        );
        check(
            "0=1 1.a=1 10=2 11:building 13.b=half 14:live 15.b=half",
            &["the code of Source that is live, half, was never saved"],
        );
        check("0=1 1.a=1 10=2 13.b=2 14:live", &["live without a build"]);
        check("0=1 1.a=1 2.b=1 3.c=1", &["2 libraries ran, and 0 were reported as live"]);
    }

    #[test]
    fn a_missed_or_unreported_save_does_not_settle() {
        let check = |script: &str, expected| {
            let mut record = record(script);
            // In these records, only the source has a number.
            let rest = || vec![String::new(); Part::ALL.len() - 1];
            record.runs.iter_mut().for_each(|run| run.values.extend(rest()));
            assert_eq!(record.is_settled(Duration::from_secs(30), Duration::from_secs(5)), expected, "{script}");
        };
        check("10=2 11:building 13.b=2 14:live 15.b=2", true);
        check("10=2 11:building 13.b=2 14:live", false);
        check("10=2 11:building 13.b=2 15.b=2", false);
        check("1.a=1 10=2 11:building 12:error 15.a=1", false);
        check("10=2 11:building 13.b=2 14:live 15.b=2 16:building", false);
        check("10=2 11:building 13.b=2 14:live 15.b=2 26:unchanged", false);
    }

    #[test]
    fn messages_are_classified_by_their_words() {
        let check = |line: &str, expected| assert_eq!(Line::of(line), expected, "{line}");
        check("building, because lib.rs changed", Line::Building);
        check("a newer build replaces it: the build is canceled", Line::Canceled);
        check("generation 1 is live   built in 1.2 s", Line::Live);
        check("saved  generation 1 → 2   live after 131 ms", Line::Live);
        check("generation 3 stays as it is · build 104 ms", Line::Unchanged);
        check("saved, but the library is unchanged", Line::Unchanged);
        check("the old code keeps running", Line::NotBuilt);
        check("generation 2 · 1 object · 60 ticks/s · automatic · building", Line::Status { building: true });
        check("generation 2 · 1 object · 60 ticks/s · automatic", Line::Status { building: false });
        check("  Game.MagicCube.rotation_speed   default 180 → 240: 20 followed", Line::Other);
        let failed = "saved  generation 3 stays   the reload failed";
        check(failed, Line::Unexpected(failed.to_owned()));
    }
}
