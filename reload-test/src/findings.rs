//! Counts the errors of one reload. Stores messages only for the first errors, because messages for all errors would increase the memory
//! whose growth the test measures.

use serde::{Deserialize, Serialize};

/// Maximum number of stored messages.
const MOST_MESSAGES: usize = 20;

/// Number of errors, and messages of the first errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Findings {
    pub(crate) lost_objects: u64,
    /// Number of failed checks. Lost objects are counted separately.
    pub(crate) wrong_answers: u64,
    pub(crate) messages: Vec<String>,
}

impl Findings {
    pub(crate) fn lost(&mut self, message: impl FnOnce() -> String) {
        self.lost_objects += 1;
        self.record(message);
    }

    /// Records a failed check.
    pub(crate) fn wrong(&mut self, message: impl FnOnce() -> String) {
        self.wrong_answers += 1;
        self.record(message);
    }

    fn record(&mut self, message: impl FnOnce() -> String) {
        if self.messages.len() < MOST_MESSAGES {
            self.messages.push(message());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Findings, MOST_MESSAGES};

    #[test]
    fn all_findings_are_counted_and_the_first_is_printed() {
        let mut findings = Findings::default();
        findings.lost(|| "lost".into());
        (0..100).for_each(|number| findings.wrong(|| format!("wrong {number}")));
        assert_eq!((findings.lost_objects, findings.wrong_answers), (1, 100));
        assert_eq!((findings.messages.len(), findings.messages[1].as_str()), (MOST_MESSAGES, "wrong 0"));
    }
}
