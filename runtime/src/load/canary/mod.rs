//! The canary: a child process that loads new modules before the host does. Mapping a library runs its initializers, and a crash or
//! hang there would affect the host. `canary_child.rs` runs in the child process, `watch.rs` waits for it, `protocol.rs` defines
//! the frames, `wire.rs` is the socket, and this file decides whether a canary is started. Used by every load: Master, reload, Slim
//! and Default. Any thread.
//!
//! A canary finds mistakes, not malice: a module can detect that it runs in a canary, for instance by how its process was started,
//! and behave differently there. The guarantee is that no module passes by accident.

pub(super) mod protocol;
mod watch;
pub(super) mod wire;

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::Candidates;

use crate::load::error::LoadError;

/// Default deadline of a canary.
const DEADLINE: Duration = Duration::from_secs(10);

/// True after a call of `run_if_child` in this process; only then can its program be started as a canary.
static ARMED: AtomicBool = AtomicBool::new(false);

/// Selects the process that loads new modules first, so that a crash there does not affect the host.
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
    /// The host's own program, started again, if its `main` calls [`run_if_child`](crate::canary::run_if_child); otherwise no
    /// canary, with one warning.
    #[default]
    Auto,
    /// No canary: initializers run for the first time in the host.
    Off,
    /// A program whose `main` calls [`run_if_child`](crate::canary::run_if_child).
    Program(PathBuf),
}

/// Allows this program to be started as a canary of its own host.
pub(super) fn arm() {
    ARMED.store(true, Ordering::Relaxed);
}

/// Canary settings of a runtime. Any thread.
#[derive(Clone, Debug)]
pub(crate) struct Rehearsal {
    /// Process that loads first.
    pub canary: Canary,
    /// Deadline of the canary.
    pub deadline: Duration,
}

impl Rehearsal {
    /// Creates settings with this deadline, or with the default.
    pub(crate) fn new(canary: Canary, deadline: Option<Duration>) -> Self {
        Self { canary, deadline: deadline.unwrap_or(DEADLINE) }
    }

    /// Returns the settings with the canary replaced, if one is passed.
    pub(crate) fn with(&self, canary: Option<Canary>) -> Self {
        Self { canary: canary.unwrap_or_else(|| self.canary.clone()), deadline: self.deadline }
    }
}

/// Outcome of the settings for one load.
#[derive(Debug, PartialEq, Eq)]
enum Choice<'a> {
    /// Start this program.
    Start(&'a Path),
    /// Start the host's own program.
    StartSelf,
    /// No canary, by the host's settings.
    Disabled,
    /// No canary, because none was set and the program cannot be one.
    Unavailable,
}

fn choose(canary: &Canary, armed: bool) -> Choice<'_> {
    match (canary, armed) {
        (Canary::Auto, true) => Choice::StartSelf,
        (Canary::Auto, false) => Choice::Unavailable,
        (Canary::Off, _) => Choice::Disabled,
        (Canary::Program(path), _) => Choice::Start(path),
    }
}

impl Rehearsal {
    /// Runs a canary that loads copies that passed every check, dependencies first, each by name and path. Returns the duration, or
    /// `None` without a canary.
    ///
    /// # Errors
    /// Returns the failure of the canary; no copy was mapped in this process.
    pub(crate) fn run(&self, candidates: Candidates) -> Result<Option<Duration>, LoadError> {
        if candidates.is_empty() {
            return Ok(None);
        }
        let own;
        let program = match choose(&self.canary, ARMED.load(Ordering::Relaxed)) {
            Choice::Disabled => return Ok(None),
            Choice::Unavailable => {
                warn_once();
                return Ok(None);
            }
            Choice::Start(program) => program,
            Choice::StartSelf => {
                own = own_program()?;
                own.as_path()
            }
        };
        let begun = Instant::now();
        watch::run(program, candidates, self.deadline)?;
        Ok(Some(begun.elapsed()))
    }
}

/// Returns the running program, even if its file was replaced by a newer build.
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
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing::warn!(
            "modules are loaded without a canary, so one that crashes while loading ends the host: call \
             `alcedo::canary::run_if_child()` first in main, or set `Canary::Off`"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::{Canary, Choice, choose};
    use std::path::{Path, PathBuf};

    #[test]
    fn a_canary_is_the_named_program_or_an_armed_host() {
        let named = Canary::Program(PathBuf::from("/p"));
        for (canary, armed, expected) in [
            (&Canary::Auto, true, Choice::StartSelf),
            (&Canary::Auto, false, Choice::Unavailable),
            (&Canary::Off, true, Choice::Disabled),
            (&Canary::Off, false, Choice::Disabled),
            (&named, true, Choice::Start(Path::new("/p"))),
            (&named, false, Choice::Start(Path::new("/p"))),
        ] {
            assert_eq!(choose(canary, armed), expected, "{canary:?} {armed}");
        }
    }
}
