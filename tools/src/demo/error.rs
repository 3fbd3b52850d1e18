//! Why the demo ended early.

use std::path::PathBuf;
use std::time::Duration;

/// Why the demo ended early, beside what ends a session.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// The example plugins are not where they were when this program was built.
    #[error("there is no example plugin in {}: run the demo of a clone of the repository, with `cargo run --bin alcedo -- demo`", path.display())]
    NoExamples {
        /// Where they were.
        path: PathBuf,
    },
    /// An expected step of the demo never came.
    #[error("{what} did not come within {} s: run the demo again with ALCEDO_LOG=debug to see what it waits for", patience.as_secs())]
    Late {
        /// What was waited for.
        what: &'static str,
        /// For how long.
        patience: Duration,
    },
    /// The world of the demo is not as the demo needs it.
    #[error("the demo expected {expected}, but found {found}: the example plugin and the demo do not fit each other")]
    Unexpected {
        /// What should be.
        expected: String,
        /// What is.
        found: String,
    },
    /// The user pressed Ctrl-C.
    #[error("interrupted: the world was ended in order, and the demo did not come to its end")]
    Interrupted,
}
