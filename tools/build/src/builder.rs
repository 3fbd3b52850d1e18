//! Repeated builds without waiting for cargo: the first build is cargo's, and later ones call the compiler as cargo did, while only the
//! plugins' own sources change. `record.rs` decides, `recorder.rs` keeps the records.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::direct::Direct;
use crate::error::BuildError;
use crate::reason::CargoReason;
use crate::record::{Plan, Record, plan};
use crate::recorder::{Recorder, Records};
use crate::report::BuildOutcome;
use crate::request::BuildRequest;
use crate::running::{Cargo, Progress, RunningBuild};

/// Builds the same requests again and again, as a session of edits does, with little delay after a change of a plugin's own sources.
///
/// Cargo runs first, and again whenever anything else has changed: a manifest, the lock file, a configuration, the toolchain, the
/// environment, a source of a dependency, or an input of a build script. [`BuildOutcome::method`] states which one ran, and why.
/// Libraries, warnings and errors are those of cargo in both cases. The records are in memory only.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{Builder, BuildRequest};
///
/// let builder = Builder::new();
/// let request = BuildRequest::new(Path::new("plugins/Cargo.toml"));
/// for _save in 0..3 {
///     let outcome = builder.build(&request)?;
///     println!("{:?}", outcome.method);
/// }
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    records: Records,
    linker: Option<PathBuf>,
}

impl Builder {
    /// Creates a builder without records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Links through this program, which must call [`run_if_linker`](crate::run_if_linker) first of all. It calls the linker without a
    /// compiler driver in between, and leaves out the debug information of the standard library and of dependencies outside the
    /// workspace; it needs the tools of the Rust toolchain, and takes the usual way where it cannot.
    pub fn linker(self, program: impl Into<PathBuf>) -> Self {
        Self { linker: Some(program.into()), ..self }
    }

    /// Builds and waits for the libraries.
    ///
    /// # Errors
    /// The errors of [`build`](crate::build).
    pub fn build(&self, request: &BuildRequest<'_>) -> Result<BuildOutcome, BuildError> {
        self.spawn(request)?.wait()
    }

    /// Starts a build without waiting for it.
    ///
    /// # Errors
    /// [`BuildError::CargoNotRun`].
    pub fn spawn(&self, request: &BuildRequest<'_>) -> Result<RunningBuild, BuildError> {
        if request.makes_programs() {
            return crate::running::spawn(request);
        }
        let progress = Progress::default();
        let mut recorder = Recorder::new(self.records.clone(), request);
        let direct = self.plan(&mut recorder, request);
        let cargo = Cargo::new(request, Some(recorder));
        let reason = match direct {
            Ok(direct) => match direct.start(&progress) {
                Ok(direct) => {
                    return Ok(RunningBuild::of(progress, move |progress| match direct.conclude(progress)? {
                        Some(outcome) => Ok(outcome),
                        None => cargo.start(progress, CargoReason::Failed)?.conclude(progress),
                    }));
                }
                Err(_) => {
                    // Ends the compilers that were started, and unlocks the target folder for cargo.
                    progress.processes.cancel();
                    CargoReason::Failed
                }
            },
            Err(reason) => reason,
        };
        let progress = Progress::default();
        let cargo = cargo.start(&progress, reason)?;
        Ok(RunningBuild::of(progress, move |progress| cargo.conclude(progress)))
    }

    /// Returns the compiler calls of the next build, or the reason why cargo has to make it. Notes the present state of all known inputs.
    fn plan(&self, recorder: &mut Recorder, request: &BuildRequest<'_>) -> Result<Direct, CargoReason> {
        let all = self.records.lock();
        let known = all.get(&recorder.key).ok_or(CargoReason::NotRecorded)?;
        let mut calls = Vec::new();
        let mut artifacts = Vec::new();
        let mut reason = None;
        for plugin in &known.plugins {
            match plugin {
                Ok(record) => {
                    let environment = recorder.environment.clone();
                    let seen = record.inputs.seen(environment, &record.library, |path| recorder.see(path));
                    let next = plan(&record.inputs, &seen);
                    recorder.before.extend(seen.own);
                    recorder.before.extend(seen.foreign);
                    artifacts.push(record.artifact(next == Plan::Fresh));
                    match next {
                        Plan::Fresh => {}
                        Plan::Direct => calls.push(record.clone()),
                        Plan::Cargo(new) => reason = reason.or(Some(new)),
                    }
                }
                Err(known) => reason = reason.or_else(|| Some(known.clone())),
            }
        }
        if let Some(reason) = reason {
            return Err(reason);
        }
        if artifacts.is_empty() {
            return Err(CargoReason::NotRecorded);
        }
        let records = known.plugins.iter().flatten();
        let locks = records.flat_map(Record::locks).collect::<BTreeSet<_>>();
        let locks = locks.iter().filter_map(|path| lock(path).transpose()).collect::<Result<_, _>>()?;
        Ok(Direct {
            recorder: recorder.clone(),
            command_line: request.command_line(),
            color: request.has_color(),
            linker: self.linker.clone(),
            diagnostics: known.diagnostics.clone(),
            artifacts,
            records: calls,
            locks,
        })
    }
}

/// Locks a folder by the file that cargo locks, until the file is closed. A cargo without this file is not excluded.
fn lock(path: &Path) -> Result<Option<File>, CargoReason> {
    let Ok(file) = File::options().read(true).write(true).open(path) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Err(CargoReason::Locked),
        // For example a file system without locks, which cargo does not lock either.
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}
