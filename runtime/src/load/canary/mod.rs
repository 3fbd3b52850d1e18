//! Canary support. A canary is a child process that loads new modules before the host does. Mapping a library runs the initializers of the
//! library. An initializer that crashes or hangs affects only the child process. `canary_child.rs` runs in the child process, and
//! `watch.rs` waits for that process. `protocol.rs` defines the messages between host and canary, and `wire.rs` contains the socket for
//! these messages. This file decides if a canary starts, for loads into all kinds of contexts and for reloads. Callable on any thread.
//!
//! A canary finds mistakes, not malice. A malicious module can detect the canary, for instance by the arguments of the process, and then
//! behave differently.

#[cfg_attr(not(unix), allow(dead_code, reason = "canaries are supported only on Unix"))]
pub(super) mod protocol;
mod watch;
#[cfg_attr(not(unix), allow(dead_code, reason = "canaries are supported only on Unix"))]
pub(super) mod wire;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::Candidates;
use watch::Started;

use crate::load::error::LoadError;

/// True once this process has called `run_if_child`. Without this call, the program of this process cannot run as a canary.
static ARMED: AtomicBool = AtomicBool::new(false);

/// Selects the program of the canary. A canary is a child process that loads new modules before the host does. A crash of the canary does
/// not affect the host.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Canary, Runtime};
///
/// // A small program that only calls `run_if_child`.
/// let builder = Runtime::builder().canary(Canary::Program("/opt/game/bin/canary".into()));
/// # let _runtime = builder.build()?;
/// assert_eq!(Canary::default(), Canary::Auto);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Canary {
    /// Starts the host's own program again, if its `main` calls [`run_if_child`](crate::canary::run_if_child). Otherwise no canary
    /// is used, and one warning is logged.
    #[default]
    Auto,
    /// Uses no canary. Initializers of modules then run in the host without a prior test.
    Off,
    /// Starts this program, whose `main` must call [`run_if_child`](crate::canary::run_if_child).
    Program(PathBuf),
}

/// Allows the host in this process to start its own program as a canary.
pub(super) fn arm() {
    ARMED.store(true, Ordering::Relaxed);
}

/// Canary settings of a runtime. Usable on any thread.
#[derive(Clone, Debug)]
pub(crate) struct Rehearsal {
    /// Program that loads modules before the host does.
    pub canary: Canary,
    /// Maximum run time of the canary.
    pub deadline: Duration,
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self { canary: Canary::default(), deadline: Duration::from_secs(10) }
    }
}

impl Rehearsal {
    /// Returns a copy of the settings. If `canary` is set, the copy uses `canary` instead of the runtime's canary setting.
    pub(crate) fn with(&self, canary: Option<Canary>) -> Self {
        Self { canary: canary.unwrap_or_else(|| self.canary.clone()), deadline: self.deadline }
    }

    /// Starts the process of a canary. The process can start up while the caller reads and checks the files of the candidates. Returns
    /// `None` if no canary is used, and the error if the process cannot be started. Dropping the canary ends its process.
    pub(crate) fn start(&self) -> Option<Result<Started, LoadError>> {
        let program = match (&self.canary, ARMED.load(Ordering::Relaxed)) {
            (Canary::Off, _) | (Canary::Auto, false) => return None,
            (Canary::Auto, true) => own_program(),
            (Canary::Program(path), _) => Ok(path.clone()),
        };
        Some(program.and_then(Started::new))
    }

    /// Lets a canary load the candidates, dependencies first. Starts a canary if `started` contains none. The caller has completed all
    /// earlier checks of the copies. Returns the run time of the canary without the start of its process, or `None` if no canary was used.
    ///
    /// # Errors
    /// Returns an error if the canary fails. This process has then mapped no copy.
    pub(crate) fn run(
        &self,
        started: Option<Result<Started, LoadError>>,
        candidates: Candidates,
    ) -> Result<Option<Duration>, LoadError> {
        if candidates.is_empty() {
            return Ok(None);
        }
        let Some(started) = started.or_else(|| self.start()) else {
            if self.canary == Canary::Auto {
                warn_once();
            }
            return Ok(None);
        };
        let begun = Instant::now();
        started?.run(candidates, self.deadline)?;
        Ok(Some(begun.elapsed()))
    }
}

/// Returns the path of the running program. The path stays valid after a newer build has replaced the file.
fn own_program() -> Result<PathBuf, LoadError> {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().map_err(|error| LoadError::CanaryUnavailable {
        program: PathBuf::from("the host's own program"),
        reason: error.to_string(),
    })
}

fn warn_once() {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    // Sets the flag before logging, because a log subscriber may load a module.
    if !HAS_WARNED.swap(true, Ordering::Relaxed) {
        log!(
            WARN,
            "modules are loaded without a canary, so one that crashes while loading ends the host: call \
             `alcedo::canary::run_if_child()` first in main, or set `Canary::Off`"
        );
    }
}

#[cfg(test)]
mod tests {
    use tracing::{Event, Subscriber};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

    use super::warn_once;

    #[test]
    fn a_log_subscriber_may_load_a_module_during_the_warning() {
        struct Loading;
        impl<S: Subscriber> Layer<S> for Loading {
            fn on_event(&self, _event: &Event<'_>, _context: Context<'_, S>) {
                warn_once();
            }
        }
        let subscriber = tracing_subscriber::registry().with(Loading);
        tracing::subscriber::with_default(subscriber, warn_once);
    }
}
