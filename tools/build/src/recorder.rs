//! Stores the records of builds: cargo's compiler calls for each request, and the versions of all inputs to these calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::call::CompilerCall;
use crate::dep_info;
use crate::error::BuildError;
use crate::lock;
use crate::origin;
use crate::processes::Processes;
use crate::reason::CargoReason;
use crate::record::{Inputs, Record, cargo_files, manifest_folders};
use crate::report::{Diagnostics, Unit, Units};
use crate::request::BuildRequest;
use crate::stamp::{self, Stamp, Stamps, stamped};

const LOCK_FILE: &str = "Cargo.lock";

/// Key of a request: working directory and arguments of cargo, which contain the plugins, features, profile and target folder.
pub(crate) type Key = Vec<OsString>;

/// The last build of each plugin of a request, with all diagnostics.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) plugins: Vec<Result<Record, CargoReason>>,
    pub(crate) diagnostics: Diagnostics,
}

/// The last builds of all requests.
pub(crate) type Records = Arc<Mutex<HashMap<Key, Known>>>;

/// Records the results of one build.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    records: Records,
    pub(crate) key: Key,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    manifest: PathBuf,
    /// Working directory of cargo.
    dir: PathBuf,
    start: SystemTime,
    /// Stamps of the files that the records contain, read right before the build.
    pub(crate) before: Stamps,
}

impl Recorder {
    pub(crate) fn new(records: Records, request: &BuildRequest<'_>) -> Self {
        let cargo = request.cargo();
        let (manifest, dir) = (request.manifest(), request.folder());
        let locks = manifest_folders([manifest.as_path()]).into_iter().map(|folder| folder.join(LOCK_FILE));
        let before = stamped(locks, Stamp::of).collect();
        let args = request.build_args().into_iter().map(OsString::from);
        Self {
            records,
            key: [dir.clone().into()].into_iter().chain(cargo.get_args().map(OsString::from)).chain(args).collect(),
            environment: origin::environment(&cargo),
            manifest,
            dir,
            start: SystemTime::now(),
            before,
        }
    }

    /// Returns the stamp that was recorded for a file before this build. If no stamp was recorded, returns the current stamp.
    pub(crate) fn see(&self, path: &Path) -> Stamp {
        self.before.get(path).cloned().unwrap_or_else(|| Stamp::of(path))
    }

    /// Returns the stamp of the source version that the finished build has read. A missing source has an unknown stamp.
    fn source(&self, path: &Path) -> Stamp {
        self.file(path).required()
    }

    /// Returns the stamp of the file version that the build has read.
    fn file(&self, path: &Path) -> Stamp {
        match self.before.get(path) {
            // Uses the current stamp of a lock file that cargo has created, because the build has read no earlier version.
            Some(Stamp::Missing) if path.ends_with(LOCK_FILE) => Stamp::of(path),
            Some(stamp) => stamp.clone(),
            None => Stamp::before(path, self.start),
        }
    }

    /// Records the compiler calls of a successful build by cargo. Does nothing if the build was canceled.
    pub(crate) fn note(
        &self,
        processes: &Processes,
        units: Units,
        mut calls: Vec<CompilerCall>,
        diagnostics: Diagnostics,
    ) {
        let Units { plugins: units, scripts, libraries, folders: _ } = units;
        let mut all = lock(&self.records);
        if processes.is_canceled() {
            return;
        }
        let unlisted = package_with_unlisted_inputs(&scripts);
        let older = all.remove(&self.key).unwrap_or_default();
        let mut older: Vec<_> = older.plugins.into_iter().flatten().collect();
        let plugins = units.into_iter().map(|unit| {
            if let Some(package) = unlisted {
                return Err(CargoReason::BuildScript(package.to_owned()));
            }
            let is_of = |call: &CompilerCall| {
                let folder = call.env("CARGO_MANIFEST_DIR").map(Path::new);
                folder == unit.manifest.parent()
                    && call.value("--crate-name") == Some(&unit.crate_name)
                    && call.is_cdylib()
            };
            let new = calls.iter().rposition(is_of).map(|at| calls.swap_remove(at));
            // Rejects the older call if another process has built since, possibly with another call.
            let is_older = |record: &Record| {
                let is_last = || list(&record.call).is_some_and(|list| Stamp::of(&list).is_same(&record.list));
                unit.fresh && record.package_id == unit.package_id && record.library == unit.library && is_last()
            };
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
        let list = list(&call)?;
        let own = self.own_sources(&list, &dir)?;
        let path = self.environment.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
        let (programs, externs) = call.tools(path, &dir)?;
        let all = dep_info::read(&unit.library.with_extension("d")).ok()?;
        if !all.iter().all(|path| path.is_absolute()) {
            return None;
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let of_plugin: Vec<_> = own.keys().map(|path| real(path)).collect();
        // Collects the sources of linked crates. If a source of the plugin also belongs to a linked crate, cargo must compile that crate,
        // too.
        let linked = externs.iter().chain(libraries.iter().map(|(_, library)| library));
        let of_linked: BTreeSet<_> =
            linked.flat_map(|library| dep_info::of_library(library)).map(|source| real(&dir.join(source))).collect();
        let mut foreign = Stamps::new();
        // Adds the workspace manifest, because its folder need not contain the members.
        let below: Vec<_> = all.iter().chain([&self.manifest]).cloned().collect();
        let of_cargo = cargo_files(&below, std::slice::from_ref(&self.dir), &self.environment);
        // Skips a file `build.rs` that is a module of the plugin. A manifest that the plugin includes remains an input of cargo.
        let is_module = |path: &Path| path.ends_with("build.rs") && of_plugin.contains(&real(path));
        foreign.extend(stamped(of_cargo.into_iter().filter(|path| !is_module(path)), |path| self.file(path)));
        let is_foreign = |file: PathBuf| !of_plugin.contains(&file) || of_linked.contains(&file);
        foreign.extend(stamped(all.into_iter().filter(|path| is_foreign(real(path))), |path| self.source(path)));
        // Uses current stamps, because this build may have written these files.
        let outputs = scripts.iter().filter_map(|(_, out)| Some(out.parent()?.join("output")));
        foreign.extend(stamped(programs, Stamp::of));
        foreign.extend(stamped(externs.into_iter().chain(outputs), |path| Stamp::of(path).required()));
        let (environment, contents) = (self.environment.clone(), stamp::contents(&own));
        let inputs = Inputs { environment, own, contents, foreign, library: Stamp::of(&unit.library) };
        let of_workspace = libraries.iter().filter(|(manifest, _)| manifest.starts_with(&dir));
        let debugged = of_workspace.map(|(_, library)| library.clone()).collect();
        let list = Stamp::of(&list);
        Some(Record { package_id: unit.package_id, call, dir, list, library: unit.library, debugged, inputs })
    }

    /// Returns the stamps of the sources in a dependency file. The compiler ran in `dir`.
    fn own_sources(&self, list: &Path, dir: &Path) -> Option<Stamps> {
        let sources = dep_info::read(list).ok()?.into_iter().map(|source| dir.join(source));
        let sources: Stamps = stamped(sources, |source| self.source(source)).collect();
        (!sources.is_empty()).then_some(sources)
    }

    /// Records the result of a compiler call for the plugin of `library`. A successful call has written a dependency file, and `install` is
    /// called. Returns `false` without a change if the build was canceled, or if the plugin has no record.
    pub(crate) fn note_direct(
        &self,
        processes: &Processes,
        library: &Path,
        dep_file: Option<&Path>,
        diagnostics: &Diagnostics,
        install: impl FnOnce() -> Result<(), BuildError>,
    ) -> Result<bool, BuildError> {
        let mut all = lock(&self.records);
        if processes.is_canceled() {
            return Ok(false);
        }
        let Some(known) = all.get_mut(&self.key) else { return Ok(false) };
        let plugins = known.plugins.iter_mut().flatten();
        let Some(record) = plugins.into_iter().find(|record| record.library == library) else { return Ok(false) };
        record.inputs.library = Stamp::Unknown;
        if let Some(dep_file) = dep_file {
            install()?;
            if let Some(own) = self.own_sources(dep_file, &record.dir) {
                // If this update fails, new files are not watched until the next build by cargo.
                let _ = dep_info::update(&record.library, &record.inputs.own, &own);
                record.inputs.contents = stamp::contents(&own);
                record.inputs.own = own;
                // Sets this stamp only if the sources are known. Otherwise, the recorded sources belong to an older library, so the library
                // counts as unknown.
                record.inputs.library = Stamp::of(&record.library);
            }
            known.diagnostics.replace(&record.package_id, diagnostics.clone());
        }
        Ok(true)
    }
}

/// Returns the dependency file that a call writes under cargo.
pub(crate) fn list(call: &CompilerCall) -> Option<PathBuf> {
    dep_file(call, Path::new(call.value("--out-dir")?))
}

/// Returns the dependency file that a call writes to `dir`.
pub(crate) fn dep_file(call: &CompilerCall, dir: &Path) -> Option<PathBuf> {
    let name = format!("{}{}.d", call.value("--crate-name")?, call.codegen("extra-filename").unwrap_or_default());
    Some(dir.join(name))
}

/// Prefix of a variable in the output of a build script.
const SCRIPT_VARIABLE: &str = "rerun-if-env-changed=";

/// Returns the name of a package whose build script has not printed its inputs. All files of this package then count as inputs. `scripts`
/// contains the package name and the output folder of each build script.
fn package_with_unlisted_inputs(scripts: &[(String, PathBuf)]) -> Option<&str> {
    let is_listed = |output: String| output.contains("rerun-if-changed=") || output.contains(SCRIPT_VARIABLE);
    scripts.iter().find(|(_, out)| !script_output(out).is_some_and(is_listed)).map(|(package, _)| package.as_str())
}

/// Returns the output of the build script with this output folder.
fn script_output(out: &Path) -> Option<String> {
    fs::read_to_string(out.parent()?.join("output")).ok()
}

/// Returns the environment variables that the sources and the build scripts of local crates read. Returns `None` if not all inputs are
/// known, because a build script has not printed its inputs, or because a plugin has no dependency file.
pub(crate) fn read_variables(units: &Units) -> Option<BTreeSet<String>> {
    if package_with_unlisted_inputs(&units.scripts).is_some() {
        return None;
    }
    let mut variables = BTreeSet::new();
    for output in units.scripts.iter().filter_map(|(_, out)| script_output(out)) {
        variables.extend(output.lines().filter_map(|line| Some(line.split_once(SCRIPT_VARIABLE)?.1.to_owned())));
    }
    for unit in &units.plugins {
        // Cargo copies the library of a plugin from the folder of its dependencies, which may be in another build folder.
        let folders = units.folders.iter().cloned().chain([unit.library.with_file_name("deps")]);
        let lists = folders.map(|folder| folder.join(format!("{}.d", unit.crate_name)));
        let lists: Vec<_> = lists.filter_map(|list| fs::read_to_string(list).ok()).collect();
        if lists.is_empty() {
            return None;
        }
        variables.extend(lists.iter().flat_map(|list| dep_info::variables(list)));
    }
    for list in units.libraries.iter().filter_map(|(_, library)| dep_info::list_of(library)) {
        variables.extend(dep_info::variables(&list));
    }
    Some(variables)
}
