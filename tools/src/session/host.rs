//! Handles a host that the session builds from sources: its source changes, its glue, and its restart.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_build::{Artifact, BuildError, SourceCrate};
use alcedo_runtime::development::link::ToHost;

use super::job::Job;
use super::{Event, Killing, Mode, Session, file_version, targets};
use crate::error::Error;
use crate::glue;
use crate::host_program::program_of;
use crate::world::{HostProgram, World};

/// Time limit for saving the world before a restart.
const SAVES: Duration = Duration::from_secs(3);

/// The host and the state of its program.
#[derive(Debug)]
pub(crate) struct HostSources {
    pub(super) package: SourceCrate,
    program: HostProgram,
    /// Set if the user has requested that changes to the host's sources restart the host.
    restarts: bool,
    /// Set if the sources have changed since the program was built.
    pub(super) is_stale: bool,
    /// Set if the host must be restarted after all stale targets were built.
    pub(super) is_due: bool,
    /// Set if the last build of the host has failed, and no source of the host has changed since. Plugins are built for the running host.
    pub(super) has_failed: bool,
    /// Set after a build has replaced the program, until a plugin is reloaded or the world crashes.
    pub(super) is_new: bool,
    /// Set if the last queried build of the host has answered. `None` before the first query.
    answers: Option<bool>,
}

impl HostSources {
    pub(crate) fn new(package: SourceCrate, program: HostProgram, restarts: bool) -> Self {
        Self {
            package,
            program,
            restarts,
            is_stale: false,
            is_due: false,
            has_failed: false,
            is_new: false,
            answers: None,
        }
    }

    /// Returns the host's program in the form of a build result.
    pub(super) fn artifact(&self) -> Artifact {
        Artifact { package: self.package.name.clone(), path: self.program.program.clone(), fresh: true }
    }

    /// Updates the package, because a changed manifest may specify another name, or programs in other folders.
    ///
    /// # Errors
    /// Fails if cargo cannot read the manifest. The package is then unchanged.
    pub(super) fn find_again(&mut self) -> Result<(), BuildError> {
        if let Some(package) = SourceCrate::host(&self.package.manifest)? {
            self.package = package;
        }
        Ok(())
    }

    /// Returns true if the program was deleted, for example by `cargo clean`.
    fn lacks_program(&self) -> bool {
        !self.program.program.exists()
    }

    /// Requests a restart after the next build. Queries the program first, because the build replaces the program.
    fn restart_after_build(&mut self) {
        let program = &self.program;
        self.answers.get_or_insert_with(|| glue::host_types(program).is_ok());
        (self.is_due, self.has_failed) = (true, false);
    }

    /// Returns true if a restart is due. The restarted process runs the new program.
    pub(super) fn begin_restart(&mut self) -> bool {
        let restarts = !self.has_failed && std::mem::take(&mut self.is_due);
        self.is_new |= restarts;
        restarts
    }
}

impl<W: World> Session<W> {
    /// Restarts the world's process with the last good build. If sources of the host have changed, or its program was deleted, builds the
    /// host and its plugins before the restart.
    pub(crate) fn restart_world(&mut self) {
        match &mut self.host {
            Some(host) if (host.is_stale || host.lacks_program()) && self.hang.is_none() => {
                host.restart_after_build();
                self.stale.extend(self.host_target());
                self.build(None, Vec::new());
            }
            _ if self.hang.is_some() => self.kill(Killing::Hang),
            _ => self.leave(),
        }
    }

    /// At the end of a pause, requests a build and a restart of a host that has changed, if changes restart the host.
    pub(super) fn resume_host(&mut self) {
        let Some(host) = &mut self.host else { return };
        if host.restarts && host.is_stale && !host.is_due {
            host.restart_after_build();
            self.stale.extend(self.host_target());
        }
    }

    /// Requests a save of the world. After the save, kills the process of the world. A second call or a timeout kills the process without
    /// waiting for the save.
    pub(super) fn leave(&mut self) {
        match self.leaving.take() {
            Some(_) => self.kill(Killing::Requested),
            None => {
                self.leaving = Some(self.now() + SAVES);
                self.world.request(ToHost::Save);
            }
        }
    }

    /// Kills the world's process if the save before a restart is complete or has exceeded its time limit.
    pub(super) fn left(&mut self, is_saved: bool) {
        let now = self.now();
        if self.leaving.take_if(|until| is_saved || *until <= now).is_some() {
            self.kill(Killing::Requested);
        }
    }

    /// Records a change to the host's sources if the host is among the `affected` targets. Removes the host from `affected` if the host
    /// need not be built now.
    pub(super) fn note_host(&mut self, affected: &mut BTreeSet<usize>, changed: &[PathBuf]) {
        let Some(target) = self.host_target().filter(|target| affected.contains(target)) else { return };
        let Some(host) = &mut self.host else { return };
        (host.is_stale, host.has_failed) = (true, false);
        if host.restarts && self.mode == Mode::Automatic {
            host.restart_after_build();
        }
        if !host.is_due {
            affected.remove(&target);
            self.events.push_back(Event::HostChanged { changed: changed.to_vec() });
        }
    }

    /// Returns the host's target if its program was deleted, because a restart after a crash needs the program.
    pub(super) fn deleted_host(&self) -> Option<usize> {
        let is_deleted = self.host.as_ref().is_some_and(|host| host.lacks_program() && !host.has_failed);
        self.host_target().filter(|_| is_deleted)
    }

    fn host_target(&self) -> Option<usize> {
        self.targets.iter().position(|target| target.is_host())
    }

    /// Returns the indices of all targets except the host's.
    pub(super) fn plugin_targets(&self) -> BTreeSet<usize> {
        (0..self.targets.len()).filter(|at| !self.targets[*at].is_host()).collect()
    }

    /// Updates the glue for types of the host if these types have changed.
    pub(super) fn rewrite_glue(&mut self) {
        let Some(host) = &mut self.host else { return };
        let origin = glue::host_origin(&host.program);
        let glue = glue::glue_of(&targets::sources(&self.targets), &origin);
        let has_answered = host.answers == Some(true);
        // Queries a build that will replace the running host even if no glue exists.
        if glue.is_empty() && !(has_answered && host.is_due) {
            return;
        }
        let types = glue::host_types(&host.program);
        if has_answered && types.is_err() {
            // Keeps the running host, because the new build ended without an answer, although an earlier build answered.
            (host.is_due, host.is_stale) = (false, true);
        } else {
            host.answers = Some(types.is_ok());
        }
        let mut written = Vec::new();
        let outcome = types.and_then(|types| glue::write_again(&glue, &origin, &types, &mut written));
        self.note_glue(written, outcome);
    }

    /// Updates the glue for the modules of a target if their types have changed since the last build. The watch then reports the glue as
    /// changed.
    pub(super) fn rewrite_module_glue(&mut self, target: usize) {
        for artifact in self.targets[target].artifacts.clone() {
            // Compares file versions instead of using `fresh`, because a failed or canceled build may have written the library.
            let version = file_version(&artifact.path);
            let known = self.declared.get(&artifact.path);
            if !artifact.path.is_file() || known.is_some_and(|(known, _)| *known == version) {
                continue;
            }
            // Skips a library that cannot be read, because the host rejects this library when it is loaded.
            let Ok((origin, declared)) = glue::of_module(&artifact.path) else { continue };
            let before = self.declared.insert(artifact.path, (version, declared.clone()));
            if before.is_some_and(|(_, before)| before != declared) {
                let glue = glue::glue_of(&targets::sources(&self.targets), &origin);
                let mut written = Vec::new();
                let outcome = glue::write_again(&glue, &origin, &declared, &mut written);
                self.note_glue(written, outcome);
            }
        }
    }

    fn note_glue(&mut self, written: Vec<PathBuf>, outcome: Result<(), Error>) {
        if !written.is_empty() {
            self.events.push_back(Event::GlueWritten { files: written.clone() });
            self.written.extend(written.iter().map(|path| (path.clone(), file_version(path))));
            let mut affected = targets::affected(&self.targets, &written);
            self.note_host(&mut affected, &written);
            if !affected.is_empty() {
                self.rewritten.extend(written);
            }
            // Builds the affected targets after the running job, which may have used the older glue.
            self.stale.extend(affected);
        }
        if let Err(error) = outcome {
            self.events.push_back(Event::Failed { error: error.to_string() });
        }
    }

    /// Records the host's program, whose name may have changed. Also records if the program is up to date. If the types of the host have
    /// changed, updates the glue and builds all plugins.
    pub(super) fn host_built(&mut self, target: usize) {
        if let Some(host) = &mut self.host {
            host.is_stale = self.stale.contains(&target);
            match program_of(&host.package, &self.targets[target].artifacts) {
                Ok(program) => {
                    self.world.set_program(&program);
                    host.program.program = program;
                }
                Err(error) => {
                    // Keeps the running host. The key k builds the host again.
                    (host.is_due, host.is_stale) = (false, true);
                    self.events.push_back(Event::Failed { error: error.to_string() });
                }
            }
        }
        self.rewrite_glue();
        if !self.rewritten.is_empty() {
            self.stale.extend(self.plugin_targets());
            self.build(None, Vec::new());
        }
    }

    /// Reports that the first unbuilt target of the job was not built. If this target is the host, builds the stale plugins for the running
    /// host. The next change of the host's sources then builds the host. A host whose build never ran remains due. A failed build may have
    /// built some of its plugins. If their types have changed, updates the glue, and starts another build.
    pub(super) fn not_built(&mut self, job: Job, error: BuildError) {
        let has_run = !matches!(error, BuildError::CargoNotRun { .. });
        let failed = job.unbuilt.first().copied().filter(|_| has_run);
        self.stale.extend(job.unbuilt);
        self.debounce.build_ended();
        if let BuildError::DoesNotCompile { inputs, .. } = &error {
            self.watch.add_inputs(inputs.iter().cloned());
        }
        self.events.push_back(Event::NotBuilt(error));
        let Some(target) = failed else { return };
        if self.targets[target].is_host() {
            self.host.iter_mut().for_each(|host| host.has_failed = true);
            self.stale.remove(&target);
            return self.build(job.edited, Vec::new());
        }
        self.rewrite_module_glue(target);
        let written = std::mem::take(&mut self.rewritten);
        if !written.is_empty() {
            self.build(job.edited, written);
        }
    }
}

#[cfg(test)]
mod tests;
