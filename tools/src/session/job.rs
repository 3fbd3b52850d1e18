//! A build of one or several folders, one after the other: cargo takes all cores for one of them anyway, and two that
//! share a target folder would only wait for each other.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use alcedo_build::{Artifact, BuildError, BuildOutcome, RunningBuild, spawn};
use crossbeam_channel::Receiver;

use super::targets::Target;
use crate::modules::BuildOptions;

/// Why a build was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The session begins.
    Start,
    /// Sources changed; the first of them at this time on the clock of the watch.
    Edit(Duration),
    /// The user requested it.
    Hand,
}

/// A build under way. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) cause: Cause,
    /// Milliseconds of the builds that have ended.
    pub(crate) millis: f64,
    /// What the compiler warned of.
    pub(crate) warnings: String,
    running: Running,
    current: usize,
    waiting: VecDeque<usize>,
}

/// What makes the libraries of a target.
#[derive(Debug)]
enum Running {
    Cargo(RunningBuild),
    /// Nothing: its texts are what is loaded. The receiver has no sender.
    Scripts(Receiver<()>, Artifact),
}

impl Running {
    fn start(target: &Target, options: &BuildOptions) -> Result<Self, BuildError> {
        match &target.scripts {
            Some(package) => Ok(Self::Scripts(crossbeam_channel::bounded(0).1, package.clone())),
            None => spawn(&target.request(options)).map(Self::Cargo),
        }
    }

    fn wait(self) -> Result<BuildOutcome, BuildError> {
        match self {
            Self::Cargo(running) => running.wait(),
            Self::Scripts(_, package) => {
                Ok(BuildOutcome { artifacts: vec![package], warnings: String::new(), millis: 0.0 })
            }
        }
    }
}

impl Job {
    /// Starts to build the targets with these numbers; none when there are none.
    pub(crate) fn start(
        cause: Cause,
        which: &BTreeSet<usize>,
        targets: &[Target],
        options: &BuildOptions,
    ) -> Result<Option<Self>, BuildError> {
        let mut waiting: VecDeque<_> = which.iter().copied().collect();
        let Some(current) = waiting.pop_front() else { return Ok(None) };
        let running = Running::start(&targets[current], options)?;
        Ok(Some(Self { cause, millis: 0.0, warnings: String::new(), running, current, waiting }))
    }

    /// Disconnects when the running cargo has ended.
    pub(crate) fn finished(&self) -> &Receiver<()> {
        match &self.running {
            Running::Cargo(running) => running.finished(),
            Running::Scripts(over, _) => over,
        }
    }

    /// How many crates the running cargo has compiled.
    pub(crate) fn compiled(&self) -> usize {
        match &self.running {
            Running::Cargo(running) => running.compiled(),
            Running::Scripts(..) => 0,
        }
    }

    /// Takes what the ended cargo made, and starts the next one if there is one to start.
    pub(crate) fn advance(self, targets: &[Target], options: &BuildOptions) -> Advance {
        let Self { cause, millis, mut warnings, running, current, mut waiting } = self;
        let outcome = match running.wait() {
            Ok(outcome) => outcome,
            Err(error) => return Advance::Failed(error),
        };
        let millis = millis + outcome.millis;
        warnings.push_str(&outcome.warnings);
        let next = match waiting.pop_front() {
            None => Next::Ended(Ended { cause, millis, warnings }),
            Some(next) => match Running::start(&targets[next], options) {
                Ok(running) => {
                    Next::Running(Box::new(Self { cause, millis, warnings, running, current: next, waiting }))
                }
                Err(error) => return Advance::Failed(error),
            },
        };
        Advance::Built { target: current, outcome, next }
    }
}

/// All is built.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) cause: Cause,
    /// Milliseconds of cargo.
    pub(crate) millis: f64,
    /// What the compiler warned of.
    pub(crate) warnings: String,
}

/// What became of one cargo.
#[derive(Debug)]
pub(crate) enum Advance {
    /// It made its libraries.
    Built {
        /// Whose.
        target: usize,
        /// Which.
        outcome: BuildOutcome,
        /// How it goes on.
        next: Next,
    },
    /// It did not, and nothing after it was tried.
    Failed(BuildError),
}

/// What comes after a cargo.
#[derive(Debug)]
pub(crate) enum Next {
    /// Another one.
    Running(Box<Job>),
    /// Nothing.
    Ended(Ended),
}
