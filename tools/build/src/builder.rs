//! Repeated builds without waiting for cargo: the first build is cargo's, and later ones call the compiler as cargo did, while only the
//! plugins' own sources change. `record.rs` decides; this file keeps the records.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::call::CompilerCall;
use crate::dep_info;
use crate::direct::{self, Direct};
use crate::error::BuildError;
use crate::origin;
use crate::record::{CargoReason, Inputs, Plan, Record, cargo_files, plan};
use crate::report::{BuildOutcome, Diagnostics, Unit, Units};
use crate::request::BuildRequest;
use crate::running::{Cargo, Progress, RunningBuild};
use crate::stamp::{Stamp, Stamps};

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
    known: Arc<Mutex<HashMap<Key, Known>>>,
    linker: Option<PathBuf>,
}

const LOCK_FILE: &str = "Cargo.lock";

/// The arguments of cargo, which name plugins, features, profile and target folder.
type Key = Vec<OsString>;

/// The last builds of a request's plugins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    plugins: Vec<Result<Record, CargoReason>>,
    diagnostics: Diagnostics,
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
        let mut recorder = self.recorder(request);
        let direct = self.plan(&mut recorder, request);
        let cargo = Cargo::new(request, Some(recorder));
        let reason = match direct {
            Ok(direct) => match direct.start(&progress) {
                Ok(direct) => {
                    return Ok(RunningBuild::of(&progress.clone(), move || match direct.conclude(&progress)? {
                        Some(outcome) => Ok(outcome),
                        None => cargo.start(&progress, CargoReason::Failed)?.conclude(&progress),
                    }));
                }
                Err(_) => CargoReason::Failed,
            },
            Err(reason) => reason,
        };
        // A failed start has canceled the compilers that were started.
        let progress = Progress::default();
        let cargo = cargo.start(&progress, reason)?;
        Ok(RunningBuild::of(&progress.clone(), move || cargo.conclude(&progress)))
    }

    fn recorder(&self, request: &BuildRequest<'_>) -> Recorder {
        let cargo = request.cargo();
        let dir = request.manifest().parent().map(Path::to_owned).unwrap_or_default();
        let locks = dir.ancestors().map(|folder| folder.join(LOCK_FILE));
        let before = locks.map(|lock| (lock.clone(), Stamp::of(&lock))).collect();
        let args = request.build_args().into_iter().map(OsString::from);
        Recorder {
            builder: self.clone(),
            key: cargo.get_args().map(OsString::from).chain(args).collect(),
            environment: origin::environment(&cargo),
            dir,
            start: SystemTime::now(),
            before,
        }
    }

    /// Returns the compiler calls of the next build, or the reason why cargo has to make it. Notes the present state of all known inputs.
    fn plan(&self, recorder: &mut Recorder, request: &BuildRequest<'_>) -> Result<Direct, CargoReason> {
        let all = self.known();
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

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Records the results of one build.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    builder: Builder,
    key: Key,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// Working folder of cargo.
    dir: PathBuf,
    pub(crate) start: SystemTime,
    /// Stamps of known files right before the build.
    before: Stamps,
}

impl Recorder {
    /// Returns the present stamp of a file, or the one that another plugin of the request has just got.
    fn see(&self, path: &Path) -> Stamp {
        self.before.get(path).cloned().unwrap_or_else(|| Stamp::of(path))
    }

    /// Returns the stamp that a source had for the build, whose compiler has ended. A source must exist.
    fn source(&self, path: &Path) -> Stamp {
        match self.file(path) {
            Stamp::Missing => Stamp::Unknown,
            stamp => stamp,
        }
    }

    /// Returns the stamp that a file had for the build.
    fn file(&self, path: &Path) -> Stamp {
        match self.before.get(path) {
            // Cargo has created it, and has read nothing else.
            Some(Stamp::Missing) if path.ends_with(LOCK_FILE) => Stamp::of(path),
            Some(stamp) => stamp.clone(),
            None => Stamp::before(path, self.start),
        }
    }

    /// Records the calls of a successful cargo, unless a newer build has begun.
    pub(crate) fn note(
        &self,
        progress: &Progress,
        units: Units,
        mut calls: Vec<CompilerCall>,
        diagnostics: Diagnostics,
    ) {
        let Units { plugins: units, scripts, libraries } = units;
        let mut all = self.builder.known();
        if progress.processes.is_canceled() {
            return;
        }
        let unlisted = scripts.iter().find(|(_, out)| !lists_inputs(out)).map(|(package, _)| package.clone());
        let older = all.remove(&self.key).unwrap_or_default();
        let mut older: Vec<_> = older.plugins.into_iter().flatten().collect();
        let plugins = units.into_iter().map(|unit| {
            if let Some(package) = &unlisted {
                return Err(CargoReason::BuildScript(package.clone()));
            }
            let is_of = |call: &CompilerCall| {
                let folder = call.env("CARGO_MANIFEST_DIR").map(Path::new);
                folder == unit.manifest.parent()
                    && call.value("--crate-name") == Some(&unit.crate_name)
                    && call.is_cdylib()
            };
            let new = calls.iter().rposition(is_of).map(|at| calls.swap_remove(at));
            let is_older =
                |record: &Record| unit.fresh && record.package == unit.package && record.library == unit.library;
            let old = || older.iter().position(is_older).map(|at| older.swap_remove(at).call);
            let record = new.or_else(old).and_then(|call| self.record(unit, call, &scripts, &libraries));
            record.ok_or(CargoReason::NotRecorded)
        });
        let known = Known { plugins: plugins.collect(), diagnostics };
        all.insert(self.key.clone(), known);
    }

    fn record(
        &self,
        unit: Unit,
        call: CompilerCall,
        scripts: &[(String, PathBuf)],
        libraries: &[(PathBuf, PathBuf)],
    ) -> Option<Record> {
        let dir = call.folder(&unit.root)?;
        let list = dep_file(&call, Path::new(call.value("--out-dir")?))?;
        let own = self.own_sources(&list, &dir)?;
        let (programs, externs) = call.tools();
        let all = dep_info::sources(&fs::read_to_string(unit.library.with_extension("d")).ok()?);
        if !all.iter().all(|path| path.is_absolute()) {
            return None;
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let of_plugin: Vec<_> = own.keys().map(|path| real(path)).collect();
        let mut foreign = Stamps::new();
        for path in cargo_files(&all, &self.dir, &self.environment) {
            let stamp = self.file(&path);
            foreign.insert(path, stamp);
        }
        for path in all {
            if !of_plugin.contains(&real(&path)) {
                let stamp = self.source(&path);
                foreign.insert(path, stamp);
            }
        }
        // Written by this build, if at all.
        let outputs = scripts.iter().filter_map(|(_, out)| Some(out.parent()?.join("output")));
        for path in programs.into_iter().chain(externs).chain(outputs) {
            let stamp = match Stamp::of(&path) {
                Stamp::Missing => Stamp::Unknown,
                stamp => stamp,
            };
            foreign.insert(path, stamp);
        }
        let inputs = Inputs { environment: self.environment.clone(), own, foreign, library: Stamp::of(&unit.library) };
        let of_workspace = libraries.iter().filter(|(manifest, _)| manifest.starts_with(&dir));
        let debugged = of_workspace.map(|(_, library)| library.clone()).collect();
        Some(Record { package: unit.package, call, dir, library: unit.library, debugged, inputs })
    }

    /// Returns the sources in a dependency file of a compiler that ran in `dir`.
    fn own_sources(&self, list: &Path, dir: &Path) -> Option<Stamps> {
        let sources = dep_info::sources(&fs::read_to_string(list).ok()?);
        let sources: Stamps = sources
            .into_iter()
            .map(|source| {
                let source = dir.join(source);
                let stamp = self.source(&source);
                (source, stamp)
            })
            .collect();
        (!sources.is_empty()).then_some(sources)
    }

    /// Records the result of a compiler call, unless a newer build has begun; `install` puts its library in place first. Returns `false`
    /// after a cancellation.
    pub(crate) fn note_direct(
        &self,
        progress: &Progress,
        result: &direct::Called,
        install: impl FnOnce() -> Result<(), BuildError>,
    ) -> Result<bool, BuildError> {
        let mut all = self.builder.known();
        if progress.processes.is_canceled() {
            return Ok(false);
        }
        let Some(known) = all.get_mut(&self.key) else { return Ok(false) };
        let plugins = known.plugins.iter_mut().flatten();
        let Some(record) = plugins.into_iter().find(|record| record.library == result.record.library) else {
            return Ok(false);
        };
        record.inputs.library = Stamp::Unknown;
        if result.is_built {
            install()?;
            if let Some(own) = self.own_sources(&result.dep_file, &record.dir) {
                record.inputs.own = own;
            }
            record.inputs.library = Stamp::of(&record.library);
            known.diagnostics.replace(&result.record.package.id, result.diagnostics.clone());
        }
        Ok(true)
    }

    /// Forgets the calls of this request: cargo makes the next build.
    pub(crate) fn forget(&self) {
        self.builder.known().remove(&self.key);
    }
}

/// Returns the dependency file that a call writes to `dir`.
pub(crate) fn dep_file(call: &CompilerCall, dir: &Path) -> Option<PathBuf> {
    let name = format!("{}{}.d", call.value("--crate-name")?, call.codegen("extra-filename").unwrap_or_default());
    Some(dir.join(name))
}

/// Returns `true` if a build script with this output folder has printed its inputs; otherwise all files of its package are inputs.
fn lists_inputs(out: &Path) -> bool {
    let output = out.parent().and_then(|dir| fs::read_to_string(dir.join("output")).ok());
    output.is_some_and(|output| output.contains("rerun-if-changed=") || output.contains("rerun-if-env-changed="))
}
