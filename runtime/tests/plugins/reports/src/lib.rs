//! Module without classes, for Slims. Any thread may call its functions by name, also while the Slim is replaced or unloaded. The main and
//! the exit hook of the module log to the target `reports`.

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

/// Number of calls to this generation.
static CALLS: AtomicU64 = AtomicU64::new(0);

fn started() {
    tracing::info!(target: "reports", "main reports");
    if fixture::on!("thread-in-main") {
        thread::spawn(|| {
            loop {
                thread::park();
            }
        });
    }
    if fixture::on!("panic-in-main") {
        panic!("broken on purpose: main");
    }
    if fixture::on!("endless-resource") {
        alcedo_plugin_api::auto_dispose(Endless);
    }
}

/// Resource whose drop registers a resource of its own type.
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

/// Functions that tests call.
pub struct Report;

#[zmethods]
impl Report {
    /// Returns a line with the tag of this build.
    #[zmethod]
    fn render(target: String, times: u32) -> String {
        CALLS.fetch_add(1, Ordering::Relaxed);
        if fixture::on!("lingering") {
            lingering::touch();
        }
        format!("{target} x{times} by build {BUILD}")
    }

    /// Returns the tag of this build. No other function of this module is cheaper to call.
    #[zmethod]
    fn build_tag() -> u64 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        fixture::tag()
    }

    /// Returns the number of calls.
    #[zmethod]
    fn calls() -> u64 {
        CALLS.load(Ordering::Relaxed)
    }

    /// Waits for the file `path` for up to a minute. Returns `true` if the file exists.
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

    /// Logs a line.
    #[zmethod]
    fn note(line: String) {
        tracing::info!(target: "reports", "{line}");
    }

    /// Panics with this message.
    #[zmethod]
    fn fail(message: String) {
        panic!("{message}");
    }
}
