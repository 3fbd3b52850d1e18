//! A module without classes, as a Slim load context takes them: functions by name that any thread may call, also while
//! the context is being replaced or unloaded. What its main and its exit hook did stands in the log, target `reports`.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_plugin_api::prelude::*;
use fixture::BUILD;

mod lingering;
#[cfg(feature = "with-class")]
mod with_class;

#[cfg(feature = "needs-figures")]
module! { name: "reports", main: started, exit: ended, dependencies: [("figures", "^0.1")] }
#[cfg(feature = "needs-newer-figures")]
module! { name: "reports", main: started, exit: ended, dependencies: [("figures", ">=0.2")] }
#[cfg(not(any(feature = "needs-figures", feature = "needs-newer-figures")))]
module! { name: "reports", main: started, exit: ended }

/// Calls since this code began.
static CALLS: AtomicU64 = AtomicU64::new(0);

fn started() {
    tracing::info!(target: "reports", "main reports");
    if fixture::on!("panic-in-main") {
        panic!("broken on purpose: main");
    }
    if fixture::on!("endless-resource") {
        alcedo_plugin_api::auto_dispose(Endless);
    }
}

/// Something whose drop leaves another to be dropped.
struct Endless;

impl Drop for Endless {
    fn drop(&mut self) {
        alcedo_plugin_api::auto_dispose(Endless);
    }
}

fn ended() {
    tracing::info!(target: "reports", "exit reports");
    if fixture::on!("panic-in-exit") {
        panic!("broken on purpose: exit");
    }
}

/// A report.
pub struct Report;

#[zmethods]
impl Report {
    /// A line about whom, with the tag of this build.
    #[zmethod]
    fn render(whom: String, times: u32) -> String {
        CALLS.fetch_add(1, Ordering::Relaxed);
        if fixture::on!("lingering") {
            lingering::touch();
        }
        format!("{whom} x{times} by build {BUILD}")
    }

    /// Which build this is; the cheapest call there is.
    #[zmethod]
    fn build_tag() -> u64 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        fixture::tag()
    }

    /// How often it was called.
    #[zmethod]
    fn calls() -> u64 {
        CALLS.load(Ordering::Relaxed)
    }

    /// Does not return before the file `path` is there, or a minute has passed; whether the file came.
    #[zmethod]
    fn wait_for(path: String) -> bool {
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(60) {
            if std::path::Path::new(&path).exists() {
                return true;
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// Writes a line into the log.
    #[zmethod]
    fn note(line: String) {
        tracing::info!(target: "reports", "{line}");
    }

    /// Panics, with this message.
    #[zmethod]
    fn fail(message: String) {
        panic!("{message}");
    }
}
