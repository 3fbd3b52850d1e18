//! Builds of several folders in sequence: one cargo uses all cores anyway, and two with a shared target folder would
//! only wait for each other.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use alcedo_build::{Artifact, BuildError, RunningBuild};
use crossbeam_channel::Receiver;

use super::part::Part;
use super::targets::Target;
use crate::modules::BuildOptions;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Start of the session.
    Start,
    /// Sources changed; time of the first change on the clock of the watch.
    Edit(Duration),
    /// The user requested it.
    Hand,
}

/// A running build. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) cause: Cause,
    /// Milliseconds of the completed builds.
    pub(crate) millis: f64,
    pub(crate) warnings: String,
    /// Parts of the completed builds.
    pub(crate) parts: Vec<Part>,
    /// The running build; none after the last one.
    running: Option<Running>,
    current: usize,
    waiting: VecDeque<usize>,
}

/// Running step of a target.
#[derive(Debug)]
enum Running {
    Cargo(RunningBuild),
    /// No build: the sources themselves are loaded. The receiver has no sender.
    Scripts(Receiver<()>, Artifact),
}

impl Running {
    fn start(target: &Target, options: &BuildOptions) -> Result<Self, BuildError> {
        match &target.scripts {
            Some(package) => Ok(Self::Scripts(crossbeam_channel::bounded(0).1, package.clone())),
            None => options.builder.spawn(&target.request(options)).map(Self::Cargo),
        }
    }
}

impl Job {
    /// Starts to build the targets with these indices; none if there are none.
    pub(crate) fn start(
        cause: Cause,
        which: &BTreeSet<usize>,
        targets: &[Target],
        options: &BuildOptions,
    ) -> Result<Option<Self>, BuildError> {
        let mut waiting: VecDeque<_> = which.iter().copied().collect();
        let Some(current) = waiting.pop_front() else { return Ok(None) };
        let running = Some(Running::start(&targets[current], options)?);
        Ok(Some(Self { cause, millis: 0.0, warnings: String::new(), parts: Vec::new(), running, current, waiting }))
    }

    /// Returns a channel that disconnects when the running cargo has ended; none if none runs.
    pub(crate) fn finished(&self) -> Option<&Receiver<()>> {
        self.running.as_ref().map(|running| match running {
            Running::Cargo(cargo) => cargo.finished(),
            Running::Scripts(over, _) => over,
        })
    }

    /// Returns the number of crates that the running cargo has compiled.
    pub(crate) fn compiled(&self) -> usize {
        if let Some(Running::Cargo(cargo)) = &self.running { cargo.compiled() } else { 0 }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.running.is_none()
    }

    /// Takes the libraries of the ended cargo, and starts the next cargo, if any. Returns the index of the target, and its libraries.
    /// After an error no further target is built.
    pub(crate) fn advance(
        &mut self,
        targets: &[Target],
        options: &BuildOptions,
    ) -> Result<(usize, Vec<Artifact>), BuildError> {
        let built = self.current;
        let artifacts = match self.running.take() {
            Some(Running::Cargo(cargo)) => {
                let outcome = cargo.wait()?;
                self.millis += outcome.millis;
                self.parts.extend(outcome.parts().into_iter().map(|(name, millis)| Part::new(name, millis)));
                self.warnings.push_str(&outcome.warnings);
                outcome.artifacts
            }
            Some(Running::Scripts(_, package)) => vec![package],
            None => Vec::new(),
        };
        if let Some(next) = self.waiting.pop_front() {
            (self.current, self.running) = (next, Some(Running::start(&targets[next], options)?));
        }
        Ok((built, artifacts))
    }
}
