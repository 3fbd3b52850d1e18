//! Counts repeated lines in the output of the world's process. Lines that differ only in time stamps and colors count as equal.

use std::collections::VecDeque;
use std::time::Duration;

/// Delay between the first repeated line and the summary of all repeats.
const PATIENCE: Duration = Duration::from_secs(1);
/// Number of previous lines with which a new line is compared, because panics in the ticks of several objects repeat a group of lines.
const WINDOW: usize = 32;
/// Number of most recent lines that are visible in the smallest supported terminal.
const IN_SIGHT: usize = 4;

/// A line of output, with the number of times it was printed.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    key: String,
    pub(crate) text: String,
    pub(crate) again: u64,
}

/// Appends a line, and keeps at most `kept` lines. If the line equals one of the last [`WINDOW`] lines, increments the count of that line
/// instead. If that line may have scrolled out of view, moves the line to the end.
pub(crate) fn note<'a>(lines: &'a mut VecDeque<Line>, kept: usize, text: &str) -> &'a mut Line {
    let key = without_time(text);
    let first = lines.len().saturating_sub(WINDOW);
    let known = lines.iter().skip(first).position(|line| line.key == key).map(|at| first + at);
    let mut at = known.unwrap_or(lines.len());
    if known.is_none_or(|at| lines.len() - at > IN_SIGHT) {
        let line =
            known.and_then(|at| lines.remove(at)).unwrap_or_else(|| Line { key, text: text.to_owned(), again: 0 });
        if lines.len() >= kept {
            lines.pop_front();
        }
        lines.push_back(line);
        at = lines.len() - 1;
    }
    let line = &mut lines[at];
    line.again += 1;
    line
}

/// Counts repeated lines until a summary of the repeats is printed.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    last: VecDeque<Line>,
    /// Total number of repeats since the last summary. `which` contains the keys of the repeated lines.
    again: u64,
    which: Vec<String>,
    /// Key of the last printed line, empty after a summary of several lines. Text of the last repeat.
    printed: String,
    latest: String,
    since: Duration,
}

/// Item to print: a line, or a summary of repeated lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    Line(String),
    /// `lines` different lines were repeated `times` times in total.
    Again {
        lines: usize,
        times: u64,
    },
}

impl Folded {
    /// Formats the line or the summary for a terminal.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Again { lines: 1, times: 1 } => "  … the same line once more".to_owned(),
            Self::Again { lines: 1, times } => format!("  … the same line {times} times more"),
            Self::Again { lines, times } => format!("  … {lines} lines as before, {times} times more"),
        }
    }
}

impl Fold {
    /// Processes a line of the world's output, and returns the lines to print.
    pub(crate) fn line(&mut self, line: &str, now: Duration) -> Vec<Folded> {
        let noted = note(&mut self.last, WINDOW, line);
        if noted.again > 1 {
            if self.again == 0 {
                self.since = now;
            }
            self.again += 1;
            line.clone_into(&mut self.latest);
            if !self.which.contains(&noted.key) {
                self.which.push(noted.key.clone());
            }
            return self.due(now);
        }
        let key = noted.key.clone();
        let mut lines = self.sum();
        lines.push(Folded::Line(line.to_owned()));
        self.printed = key;
        lines
    }

    /// Returns the summary of the repeats if [`PATIENCE`] has passed since the first repeat. Otherwise, returns an empty list.
    pub(crate) fn due(&mut self, now: Duration) -> Vec<Folded> {
        if now.saturating_sub(self.since) < PATIENCE { Vec::new() } else { self.sum() }
    }

    /// Returns the summary that must be printed before other output. After this call, a line that repeats an earlier line counts as new.
    pub(crate) fn rest(&mut self) -> Vec<Folded> {
        self.last.clear();
        self.sum()
    }

    fn sum(&mut self) -> Vec<Folded> {
        let (which, times) = (std::mem::take(&mut self.which), std::mem::take(&mut self.again));
        match which.as_slice() {
            [] => Vec::new(),
            // A summary of one line must follow this line: if another line was printed last, prints the repeated line instead.
            [key] if *key != self.printed => {
                self.printed.clone_from(key);
                let rest = (times > 1).then_some(Folded::Again { lines: 1, times: times - 1 });
                [Folded::Line(std::mem::take(&mut self.latest))].into_iter().chain(rest).collect()
            }
            [_] => vec![Folded::Again { lines: 1, times }],
            which => {
                self.printed.clear();
                vec![Folded::Again { lines: which.len(), times }]
            }
        }
    }
}

/// Returns a line without colors and leading time stamps. Returns a line that consists only of time stamps unchanged.
fn without_time(line: &str) -> String {
    let plain = strip_colors(line);
    let mut rest = plain.trim_start();
    while let Some((_, behind)) = rest.split_once(char::is_whitespace).filter(|(word, _)| is_time(word)) {
        rest = behind.trim_start();
    }
    if rest.is_empty() { plain } else { rest.to_owned() }
}

/// Returns true if a word is a date, a time, or seconds since a start: `2026-01-31T10:00:00.5Z`, `[10:00:00]`, `0.25s`.
fn is_time(word: &str) -> bool {
    let word = word.trim_matches(['[', ']', '(', ')', ',']);
    let is_seconds = |number: &str| number.contains('.') && number.parse::<f64>().is_ok();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_clock = word.contains(':') || word.bytes().filter(|byte| matches!(byte, b'-' | b'/')).count() == 2;
    let is_made_of = word.bytes().all(|byte| byte.is_ascii_digit() || b"-:.,/+TZ".contains(&byte));
    word.strip_suffix('s').is_some_and(is_seconds) || (digits >= 4 && is_clock && is_made_of)
}

fn strip_colors(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| plain.push_str(part.split_once('m').map_or(part, |(_, text)| text)));
    plain
}

#[cfg(test)]
mod tests {
    use super::{Fold, Folded, note};
    use std::collections::VecDeque;
    use std::time::Duration;

    fn printed(folded: Vec<Folded>) -> Vec<String> {
        folded.iter().map(Folded::text).collect()
    }

    #[test]
    fn repeated_lines_are_counted() {
        let mut fold = Fold::default();
        let mut check = |line: &str, ms: u64, expected: &[&str]| {
            assert_eq!(printed(fold.line(line, Duration::from_millis(ms))), expected, "{line} at {ms}");
        };
        check("a", 0, &["a"]);
        check("a", 10, &[]);
        check("a", 20, &[]);
        check("b", 30, &["  … the same line 2 times more", "b"]);
        check("b", 40, &[]);
        check("b", 1040, &["  … the same line 2 times more"]);
        check("b", 1050, &[]);
        assert_eq!(printed(fold.due(Duration::from_millis(2049))), [""; 0]);
        assert_eq!(printed(fold.due(Duration::from_millis(2050))), ["  … the same line once more"]);
        assert_eq!(printed(fold.rest()), [""; 0]);
        assert_eq!(
            printed(fold.line("b", Duration::from_millis(2060))),
            ["b"],
            "something else was printed in between"
        );
    }

    #[test]
    fn lines_that_repeat_in_turns_are_one_sum() {
        let mut fold = Fold::default();
        let lines = ["a 1", "a 2", "a 3"];
        let mut all = Vec::new();
        for round in 0..100 {
            let now = Duration::from_millis(round);
            lines.iter().for_each(|line| all.extend(printed(fold.line(line, now))));
        }
        // After a summary of several lines, a repeat is printed as this line.
        let later = Duration::from_secs(2);
        all.extend(printed(fold.due(later)));
        assert_eq!(printed(fold.line("a 3", later)), [""; 0]);
        all.extend(printed(fold.rest()));
        assert_eq!(all, ["a 1", "a 2", "a 3", "  … 3 lines as before, 297 times more", "a 3"]);
    }

    #[test]
    fn a_repeat_of_an_earlier_line_is_printed_as_this_line() {
        let mut fold = Fold::default();
        let mut all = Vec::new();
        for line in ["day 1", "idle", "day 2", "idle", "day 3", "idle", "idle", "idle", "day 4"] {
            all.extend(printed(fold.line(line, Duration::ZERO)));
        }
        assert_eq!(all, ["day 1", "idle", "day 2", "idle", "day 3", "idle", "  … the same line 2 times more", "day 4"]);
    }

    #[test]
    fn the_oldest_lines_are_dropped() {
        let mut lines = VecDeque::new();
        for line in ["a", "b", "b", "c", "a"] {
            note(&mut lines, 2, line);
        }
        let left: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.again)).collect();
        assert_eq!(left, [("c", 1), ("a", 1)]);
        for line in "0 1 2 3 4 0".split(' ') {
            note(&mut lines, 9, line);
        }
        let last: Vec<_> = lines.iter().skip(2).map(|line| (line.text.as_str(), line.again)).collect();
        assert_eq!(last, [("1", 1), ("2", 1), ("3", 1), ("4", 1), ("0", 2)], "a line that is out of sight moves");
    }

    #[test]
    fn lines_that_differ_in_their_time_stamps_only_are_the_same_line() {
        for (first, again, is_same) in [
            ("2026-11-24T22:31:30.123456Z  WARN a: b", "2026-11-24T22:31:31.000001Z  WARN a: b", true),
            (
                "\u{1b}[2m2026-11-24T22:31:30Z\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m a",
                "\u{1b}[2m2026-11-24T22:31:31Z\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m a",
                true,
            ),
            ("[2026-11-24 10:00:00] a", "[2026-11-24 10:00:01] a", true),
            ("   0.016333s  WARN a", "   1.016333s  WARN a", true),
            ("2026-11-24T22:31:30Z  WARN Bird_1", "2026-11-24T22:31:31Z  WARN Bird_2", false),
            ("10:00:00", "10:00:01", false),
            ("5 birds", "6 birds", false),
            ("1.5 2", "1.6 2", false),
        ] {
            let mut fold = Fold::default();
            assert_eq!(printed(fold.line(first, Duration::ZERO)), [first]);
            assert_eq!(fold.line(again, Duration::ZERO).is_empty(), is_same, "{again}");
        }
    }
}
