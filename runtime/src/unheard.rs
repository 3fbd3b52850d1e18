//! Prints warnings and errors of the runtime to standard error if the process has no `tracing` subscriber. Otherwise these messages would
//! be lost.

use std::fmt::Display;
use std::io::{Write as _, stderr};

use tracing::dispatcher;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::NoSubscriber;

/// Prints a message if this process has no subscriber. The caller also logs the message. Can be called on any thread.
pub(crate) fn print(message: &dyn Display) {
    let is_lost = LevelFilter::current() == LevelFilter::OFF
        && dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>());
    if is_lost {
        // Ignores a write error: a host without an error stream continues.
        let _written = writeln!(stderr().lock(), "alcedo: {message}");
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    /// Environment variable of a child process that runs only this test. Other tests in the same process would install subscribers.
    const ALONE: &str = "ALCEDO_UNHEARD_TEST";

    #[test]
    fn a_process_without_a_subscriber_prints_what_it_logs() {
        if env::var_os(ALONE).is_some() {
            return super::print(&"a failure");
        }
        let name = "unheard::tests::a_process_without_a_subscriber_prints_what_it_logs";
        let alone = Command::new(env::current_exe().expect("a path")).args(["--exact", name]).env(ALONE, "1").output();
        let printed = String::from_utf8(alone.expect("it runs").stderr).expect("text");
        assert!(printed.contains("alcedo: a failure\n"), "{printed}");
    }
}
