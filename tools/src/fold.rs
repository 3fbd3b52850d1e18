//! Lines that the world's process prints: the same line again is counted and not repeated. Values in, lines out.

use std::time::Duration;

/// What repeats is summed up this often, at the least.
const PATIENCE: Duration = Duration::from_secs(1);

/// The line before, and how often it came again.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    last: Option<String>,
    again: u64,
    since: Duration,
}

impl Fold {
    /// What to print now that this line has come.
    pub(crate) fn line(&mut self, line: &str, now: Duration) -> Vec<String> {
        if self.last.as_deref() == Some(line) {
            if self.again == 0 {
                self.since = now;
            }
            self.again += 1;
            return self.due(now);
        }
        let mut lines = self.sum();
        self.last = Some(line.to_owned());
        lines.push(line.to_owned());
        lines
    }

    /// What to print now, if something has waited for long enough.
    pub(crate) fn due(&mut self, now: Duration) -> Vec<String> {
        match self.again {
            0 => Vec::new(),
            _ if now.saturating_sub(self.since) < PATIENCE => Vec::new(),
            _ => self.sum(),
        }
    }

    /// What to print before anything else is printed. The same line behind that is a new one.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.last = None;
        self.sum()
    }

    fn sum(&mut self) -> Vec<String> {
        match std::mem::take(&mut self.again) {
            0 => Vec::new(),
            1 => vec!["  … the same line once more".to_owned()],
            again => vec![format!("  … the same line {again} times more")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fold;
    use std::time::Duration;

    #[test]
    fn the_same_line_again_is_counted() {
        let mut fold = Fold::default();
        let mut check = |line: &str, ms: u64, expected: &[&str]| {
            assert_eq!(fold.line(line, Duration::from_millis(ms)), expected, "{line} at {ms}");
        };
        check("a", 0, &["a"]);
        check("a", 10, &[]);
        check("a", 20, &[]);
        check("b", 30, &["  … the same line 2 times more", "b"]);
        check("b", 40, &[]);
        check("b", 1040, &["  … the same line 2 times more"]);
        check("b", 1050, &[]);
        assert_eq!(fold.due(Duration::from_millis(2049)), [""; 0]);
        assert_eq!(fold.due(Duration::from_millis(2050)), ["  … the same line once more"]);
        assert_eq!(fold.rest(), [""; 0]);
        assert_eq!(fold.line("b", Duration::from_millis(2060)), ["b"], "something else was printed in between");
    }
}
