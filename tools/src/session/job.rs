//! Builds several folders one after another. A single cargo process already uses all cores, and two processes with a shared target folder
//! would wait for each other.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_build::{Artifact, BuildError, RunningBuild};
use crossbeam_channel::Receiver;

use super::event::Part;
use super::targets::{Kind, Target};
use crate::modules::BuildOptions;

/// Builds of some targets, one after another. Dropping the job cancels the running build.
#[derive(Debug)]
pub(crate) struct Job {
    /// Time of the first source change, on the clock of the session. `None` for a build without a change.
    pub(crate) edited: Option<Duration>,
    /// Total milliseconds of the completed builds.
    pub(crate) millis: f64,
    pub(crate) warnings: String,
    /// Phases of the completed builds, with their times.
    pub(crate) parts: Vec<Part>,
    /// Indices of the targets that are not yet built. The first target is being built.
    pub(crate) unbuilt: BTreeSet<usize>,
    /// False if only files of source code have changed, because cargo then writes no lock file.
    pub(crate) may_write_lock: bool,
    /// Running build of a target. `None` after the last target was built.
    running: Option<Running>,
}

/// Running build of a target.
#[derive(Debug)]
enum Running {
    Cargo(RunningBuild),
    /// Scripts, which need no build because they are loaded from their sources. The receiver is already disconnected.
    Scripts(Receiver<()>, Artifact),
}

impl Running {
    fn start(target: &Target, options: &BuildOptions) -> Result<Self, BuildError> {
        let request = match &target.kind {
            Kind::Plugins(folder) => folder.request(),
            Kind::Host(host) => host.request().programs(),
            Kind::Scripts(package) => return Ok(Self::Scripts(crossbeam_channel::bounded(0).1, package.clone())),
        };
        let request = request.release(options.release).color(options.color);
        let request = options.target_dir.iter().fold(request, |request, dir| request.target_dir(dir));
        options.builder.spawn(&request).map(Self::Cargo)
    }
}

impl Job {
    /// Starts builds of the targets with these indices, after changes of the files `changed`. Also builds targets whose library was
    /// deleted, because all libraries are loaded together. Returns `None` if `which` is empty.
    pub(crate) fn start(
        edited: Option<Duration>,
        changed: &[PathBuf],
        which: &BTreeSet<usize>,
        targets: &[Target],
        options: &BuildOptions,
    ) -> Result<Option<Self>, BuildError> {
        if which.is_empty() {
            return Ok(None);
        }
        let deleted = (0..targets.len()).filter(|at| targets[*at].lacks_library());
        let unbuilt: BTreeSet<_> = which.iter().copied().chain(deleted).collect();
        let (warnings, parts) = (String::new(), Vec::new());
        let is_code = |path: &PathBuf| path.extension().is_some_and(|end| end != "toml" && end != "lock");
        let may_write_lock = changed.is_empty() || !changed.iter().all(is_code);
        let mut job = Self { edited, millis: 0.0, warnings, parts, unbuilt, may_write_lock, running: None };
        Ok(job.start_next(targets, options)?.then_some(job))
    }

    /// Returns a channel that disconnects when the running build ends. Returns `None` if no build runs.
    pub(crate) fn finished(&self) -> Option<&Receiver<()>> {
        self.running.as_ref().map(|running| match running {
            Running::Cargo(cargo) => cargo.finished(),
            Running::Scripts(over, _) => over,
        })
    }

    /// Returns the number of crates that the running build has compiled.
    pub(crate) fn compiled(&self) -> usize {
        if let Some(Running::Cargo(cargo)) = &self.running { cargo.compiled() } else { 0 }
    }

    /// Collects the libraries of the completed build. Returns the index of the built target, and its libraries.
    pub(crate) fn collect(&mut self) -> Result<(usize, Vec<Artifact>), BuildError> {
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
        let built = self.unbuilt.pop_first().expect("a job is created with targets, and ends after the last one");
        Ok((built, artifacts))
    }

    /// Starts the build of the next target. Returns `false` if all targets are built. After an error, no further target is built.
    pub(crate) fn start_next(&mut self, targets: &[Target], options: &BuildOptions) -> Result<bool, BuildError> {
        let next = self.unbuilt.first().map(|next| Running::start(&targets[*next], options));
        self.running = next.transpose()?;
        Ok(self.running.is_some())
    }
}
