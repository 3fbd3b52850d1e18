//! Errors that were already logged. A health watch repeats failed steps every few seconds, and logs an equal error only once until the step
//! succeeds.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Last logged error of each path.
#[derive(Default)]
pub(super) struct LoggedErrors(HashMap<PathBuf, String>);

impl LoggedErrors {
    /// Records the error of a step on this path. Returns true unless the last error of this path was equal.
    pub(super) fn is_new(&mut self, path: &Path, error: &dyn Display) -> bool {
        let error = error.to_string();
        self.0.insert(path.to_owned(), error.clone()).is_none_or(|logged| logged != error)
    }

    /// Records that a step on this path has succeeded.
    pub(super) fn clear(&mut self, path: &Path) {
        self.0.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::LoggedErrors;

    #[test]
    fn a_repeated_error_of_a_path_is_new_after_a_success() {
        let (mut logged, [first, other]) = (LoggedErrors::default(), ["a", "b"].map(Path::new));
        assert!(logged.is_new(first, &"full") && !logged.is_new(first, &"full"));
        assert!(logged.is_new(other, &"full") && logged.is_new(first, &"denied"));
        logged.clear(first);
        assert!(logged.is_new(first, &"denied") && !logged.is_new(other, &"full"));
    }
}
