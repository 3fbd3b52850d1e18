//! Repeats builds without cargo. Cargo runs the first build of a request. Later builds repeat cargo's compiler calls, as long as only the
//! plugins' own sources change. `record.rs` decides if a build needs cargo. `recorder.rs` stores the records.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::direct::Direct;
use crate::error::BuildError;
use crate::processes::Processes;
use crate::reason::CargoReason;
use crate::record::{Plan, Record, plan};
use crate::recorder::{Recorder, Records};
use crate::report::BuildOutcome;
use crate::request::BuildRequest;
use crate::running::{Cargo, RunningBuild};

/// Builds the same requests repeatedly. A repeated build is fast if only the plugins' own sources have changed.
///
/// Cargo runs the first build, and each build after a change outside the plugins' own sources: to a manifest, the lock file, a
/// configuration, the toolchain, the environment, a source of a dependency, or an input of a build script. [`BuildOutcome::method`]
/// contains the reason if cargo ran. A build without cargo produces the same libraries, warnings and errors as a build by cargo. The
/// compiler calls of cargo are recorded only in memory.
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
    /// Creates a builder without recorded builds, so cargo runs the first build of each request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the program that the compiler calls as its linker in builds without cargo. The program must call
    /// [`run_if_linker`](crate::run_if_linker) at the start of its `main`. This call runs the linker directly, without the compiler driver
    /// `cc`. The linked library contains no debug information of the standard library and of dependencies outside the workspace. If the
    /// linker cannot be called directly, the program links through `cc` as usual.
    pub fn linker(self, program: impl Into<PathBuf>) -> Self {
        Self { linker: Some(program.into()), ..self }
    }

    /// Builds a request and waits for the libraries.
    ///
    /// # Errors
    /// Returns the errors of [`build`](crate::build).
    pub fn build(&self, request: &BuildRequest<'_>) -> Result<BuildOutcome, BuildError> {
        self.spawn(request)?.wait()
    }

    /// Starts a build without waiting for it.
    ///
    /// # Errors
    /// Returns [`BuildError::CargoNotRun`].
    pub fn spawn(&self, request: &BuildRequest<'_>) -> Result<RunningBuild, BuildError> {
        if request.programs {
            return RunningBuild::start(request);
        }
        let processes = Processes::default();
        let mut recorder = Recorder::new(self.records.clone(), request);
        let direct = self.plan(&mut recorder, request).and_then(|direct| {
            // After an error, kills the compilers that were started, and unlocks the target folder for cargo.
            direct.start(&processes).inspect_err(|_| processes.cancel()).map_err(|_| CargoReason::Failed)
        });
        let cargo = Cargo::new(request, Some(recorder));
        match direct {
            Ok(direct) => Ok(RunningBuild::of(processes, move |processes| match direct.conclude(processes)? {
                Some(outcome) => Ok(outcome),
                None => {
                    // Releases the lock of the target folder, because cargo itself locks this folder.
                    processes.unlock();
                    cargo.start(processes, CargoReason::Failed)?.conclude(processes)
                }
            })),
            Err(reason) => cargo.spawn(reason),
        }
    }

    /// Returns the compiler calls that the next build repeats. If cargo must build instead, returns the reason as an error. Records the
    /// current stamps (file versions) of all known inputs in `recorder`.
    fn plan(&self, recorder: &mut Recorder, request: &BuildRequest<'_>) -> Result<Direct, CargoReason> {
        let all = crate::lock(&self.records);
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
        // A build without compiler calls writes no output, so it needs no lock.
        let records = known.plugins.iter().flatten().filter(|_| !calls.is_empty());
        let locks = records.flat_map(Record::locks).collect::<BTreeSet<_>>();
        let locks = locks.iter().filter_map(|path| lock(path).transpose()).collect::<Result<_, _>>()?;
        Ok(Direct {
            recorder: recorder.clone(),
            command_line: request.command_line(),
            color: request.color,
            linker: self.linker.clone(),
            diagnostics: known.diagnostics.clone(),
            artifacts,
            records: calls,
            locks,
        })
    }
}

/// Locks the lock file of a cargo folder. Closing the returned file releases the lock. Returns `None` if the lock file does not exist, or
/// if the file system does not support locks. Fails with [`CargoReason::Locked`] if another process holds the lock.
fn lock(path: &Path) -> Result<Option<File>, CargoReason> {
    let Ok(file) = File::options().read(true).write(true).open(path) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Err(CargoReason::Locked),
        // Continues without a lock, as cargo does.
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}
