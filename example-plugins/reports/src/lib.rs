//! A module without classes, as a Slim load context takes them: functions by name that any thread may call, also while
//! the context is being replaced or unloaded. What its main and its exit hook did stands in the log, target `reports`.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_plugin_api::prelude::*;

#[cfg(feature = "lingering")]
mod lingering;
#[cfg(feature = "with-class")]
mod with_class;

#[cfg(feature = "needs-figures")]
module! { name: "reports", main: started, exit: ended, dependencies: [("figures", "^0.1")] }
#[cfg(feature = "needs-newer-figures")]
module! { name: "reports", main: started, exit: ended, dependencies: [("figures", ">=0.2")] }
#[cfg(not(any(feature = "needs-figures", feature = "needs-newer-figures")))]
module! { name: "reports", main: started, exit: ended }

/// Which build this is: set `ALCEDO_BUILD_TAG` while building.
const BUILD_TAG: u64 = match option_env!("ALCEDO_BUILD_TAG") {
    Some(tag) => match u64::from_str_radix(tag, 10) {
        Ok(tag) => tag,
        Err(_) => panic!("ALCEDO_BUILD_TAG is a whole number"),
    },
    None => 0,
};

/// Calls since this code began.
static CALLS: AtomicU64 = AtomicU64::new(0);

fn started() {
    tracing::info!(target: "reports", "main reports");
    if cfg!(feature = "panic-in-main") {
        panic!("broken on purpose: main");
    }
    #[cfg(feature = "endless-resource")]
    alcedo_plugin_api::auto_dispose(Endless);
}

/// Something whose drop leaves another to be dropped.
#[cfg(feature = "endless-resource")]
struct Endless;

#[cfg(feature = "endless-resource")]
impl Drop for Endless {
    fn drop(&mut self) {
        alcedo_plugin_api::auto_dispose(Endless);
    }
}

fn ended() {
    tracing::info!(target: "reports", "exit reports");
    if cfg!(feature = "panic-in-exit") {
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
        #[cfg(feature = "lingering")]
        lingering::touch();
        format!("{whom} x{times} by build {BUILD_TAG}")
    }

    /// Which build this is; the cheapest call there is.
    #[zmethod]
    fn build_tag() -> u64 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        BUILD_TAG
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
