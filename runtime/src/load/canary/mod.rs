//! The canary: a child process that loads new modules before the host does. Mapping a library runs its initializers,
//! and what crashes or hangs there takes its process along; so it is another process's. `canary_child.rs` is what runs there,
//! `watch.rs` waits for it, `protocol.rs` is what they say to each other, `wire.rs` the socket between them, and this file
//! decides whether there is one. Every door has it: a Master, a reload, a Slim and the Default. Any thread.
//!
//! A canary finds mistakes, not malice: a module can detect that it runs in a canary, for instance by looking at how
//! its process was started, and act differently there. What holds is that no module passes by accident.

pub(super) mod protocol;
mod watch;
pub(super) mod wire;

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::Candidates;

use crate::load::error::LoadError;

/// How long a canary may take, unless the host says otherwise.
const DEADLINE: Duration = Duration::from_secs(10);

/// Whether this process looks for canaries that it is itself: only then can its program be started as one.
static ARMED: AtomicBool = AtomicBool::new(false);

/// Which process loads new modules first, so that a crash there is not the host's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Canary {
    /// The host's own program, started once more, if its `main` calls [`run_if_child`](crate::canary::run_if_child); else none,
    /// and a warning says so once.
    #[default]
    Auto,
    /// None: initializers run for the first time in the host.
    Off,
    /// This program, whose `main` calls [`run_if_child`](crate::canary::run_if_child).
    Program(PathBuf),
}

/// From now on this program can be started as a canary of its own host.
pub(super) fn arm() {
    ARMED.store(true, Ordering::Relaxed);
}

/// What a runtime does about canaries. Any thread.
#[derive(Clone, Debug)]
pub(crate) struct Rehearsal {
    /// Which process loads first.
    pub canary: Canary,
    /// How long that may take.
    pub deadline: Duration,
}

impl Rehearsal {
    /// This canary, with the deadline that there is unless one is said.
    pub(crate) fn new(canary: Canary, deadline: Option<Duration>) -> Self {
        Self { canary, deadline: deadline.unwrap_or(DEADLINE) }
    }

    /// The same with another canary, if one is said.
    pub(crate) fn with(&self, canary: Option<Canary>) -> Self {
        Self { canary: canary.unwrap_or_else(|| self.canary.clone()), deadline: self.deadline }
    }
}

/// What is to be done before a set of modules is mapped.
#[derive(Debug, PartialEq, Eq)]
enum Choice<'a> {
    /// This program tries them.
    Start(&'a Path),
    /// The host's own program tries them.
    StartSelf,
    /// No process, as the host has set it.
    Nobody,
    /// No process, as nothing was set and the program is no canary.
    NobodyUnasked,
}

fn choose(canary: &Canary, armed: bool) -> Choice<'_> {
    match (canary, armed) {
        (Canary::Auto, true) => Choice::StartSelf,
        (Canary::Auto, false) => Choice::NobodyUnasked,
        (Canary::Off, _) => Choice::Nobody,
        (Canary::Program(path), _) => Choice::Start(path),
    }
}

impl Rehearsal {
    /// Has a canary load copies that passed every check, dependencies first, each by its name and path. Returns how long it took;
    /// nothing where there is none.
    ///
    /// # Errors
    /// What became of the canary; nothing of the copies was mapped in this process.
    pub(crate) fn run(&self, candidates: Candidates) -> Result<Option<Duration>, LoadError> {
        if candidates.is_empty() {
            return Ok(None);
        }
        let own;
        let program = match choose(&self.canary, ARMED.load(Ordering::Relaxed)) {
            Choice::Nobody => return Ok(None),
            Choice::NobodyUnasked => {
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

/// The running program, also when its file was replaced by a newer build.
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
            "modules are loaded without a canary, so one that crashes while loading takes the host along: call \
             `alcedo_runtime::canary::run_if_child()` first thing in main, or say `Canary::Off`"
        );
    });
}

#[cfg(test)]
mod tests {
    use super::{Canary, Choice, choose};
    use std::path::{Path, PathBuf};

    #[test]
    fn a_canary_is_the_program_that_was_named_or_one_that_is_made_for_it() {
        let named = Canary::Program(PathBuf::from("/p"));
        for (canary, armed, expected) in [
            (&Canary::Auto, true, Choice::StartSelf),
            (&Canary::Auto, false, Choice::NobodyUnasked),
            (&Canary::Off, true, Choice::Nobody),
            (&Canary::Off, false, Choice::Nobody),
            (&named, true, Choice::Start(Path::new("/p"))),
            (&named, false, Choice::Start(Path::new("/p"))),
        ] {
            assert_eq!(choose(canary, armed), expected, "{canary:?} {armed}");
        }
    }
}
