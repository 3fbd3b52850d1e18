//! State and steps of a health watch: checks the code during a window, loads changed files from private copies, and returns to the last
//! healthy library.

mod status_file;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_sys::{ImageFile, StageDir, plain_file};

use super::copies::{KeptCopy, is_complete};
use super::errors::LoggedErrors;
use super::{Check, HealthWatch, paths};
use crate::callback::{HostId, Registered, Site, let_go};
use crate::error::Error;
use crate::load::error::LoadError;
use crate::load::module::master::MasterModule;
use crate::panic_guard;
use crate::reload::health::{Adopted, Health, Verdict};
use crate::reload::report::{Outcome, ReloadReport};
use crate::reload::requests::{BudgetUse, ReloadScope};
use crate::reload::watch::FileWatch;
use crate::runtime::Runtime;

/// Time before a failed attempt is repeated. Applies to attempts to load the last healthy library again, and to attempts to copy a new
/// library. An attempt fails, for example, while the disk is full. The time doubles after each failed attempt to load the last healthy
/// library, up to [`MOST_DOUBLINGS`] times, because each attempt may interrupt the host.
const LONG_RETRY: Duration = Duration::from_secs(5);
const MOST_DOUBLINGS: u32 = 6;

/// Health watch in progress. Game thread only.
pub(in crate::runtime) struct Watching {
    health: Health,
    check: Registered<Check>,
    pub(super) watch: FileWatch,
    /// Paths of the Master's modules after the last reload by this watch, or after the last call of `adopt`.
    paths: Vec<PathBuf>,
    /// Paths of the watched libraries, in the order of the modules in `health`.
    files: Vec<PathBuf>,
    /// Name of the module in each library of `files`.
    names: Vec<String>,
    /// Index into `paths` for each library of `files`. `None` if the Master does not contain the module of this library.
    slots: Vec<Option<usize>>,
    copies: Vec<KeptCopy>,
    /// Generation of the Master after the last step of this watch.
    generation: u64,
    /// Set if files have changed since the last load.
    is_due: bool,
    /// Time of the next attempt to read and copy the changed files. `None` if the last attempt has not failed.
    next_copy: Option<Duration>,
    /// Next attempt to return to the last healthy libraries after a failed attempt: time, indices of the modules, and reason.
    next_return: Option<(Duration, Vec<usize>, String)>,
    /// Number of failed returns to the last healthy libraries since a check found the code unhealthy.
    failed_returns: u32,
    pub(super) status_file: Option<PathBuf>,
    /// Generation and health at the last write of the status file. `None` before the first write.
    written: Option<(u64, Health)>,
    next_write: Duration,
    /// Logged errors of the repeated steps.
    logged: LoggedErrors,
    start: Instant,
}

impl Watching {
    pub(super) fn start(
        runtime: &Runtime,
        HealthWatch { window, check, status_file }: HealthWatch,
    ) -> Result<Self, Error> {
        let master = runtime.inner.loads.master().ok_or(LoadError::NoMaster)?;
        let failed = |path: &Path| {
            let doing = format!("watching {}", path.display());
            move |source| Error::System { doing, source }
        };
        let libraries = || master.paths.iter().enumerate().filter(|(_, path)| !path.is_dir());
        let status_file = status_file
            .map(|path| paths::checked_status_file(&path, libraries().map(|(_, path)| &**path)))
            .transpose()?;
        let watch = FileWatch::new(&master.paths)?;
        let (mut files, mut modules, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        let (mut names, mut slots) = (Vec::new(), Vec::new());
        for (slot, path) in libraries() {
            let bytes = plain_file::read(path, largest(runtime)).map_err(failed(path))?;
            let digest = plain_file::sha256(&bytes);
            copies.push(KeptCopy::new(stage_dir(runtime), path, &digest, &bytes).map_err(failed(path))?);
            let image = ImageFile::from_bytes(path, bytes).ok().map(|image| image.digest());
            // Also searches by digest, because an earlier health watch may have loaded the module from a copy.
            let loaded = master.modules.iter().find(|module| module.info().origin.as_deref() == Some(path.as_path()));
            let loaded = loaded.or_else(|| master.modules.iter().find(|module| image == Some(module.info().digest)));
            let Some(module) = loaded.filter(|module| image == Some(module.info().digest)) else {
                let reason = "the file has changed since it was loaded: create the Master again, and watch at once";
                return Err(failed(path)(io::Error::other(reason)));
            };
            names.push(module.name().to_owned());
            slots.push(Some(slot));
            modules.push((name_of(path), digest));
            files.push(path.clone());
        }
        Ok(Self {
            health: Health::new(window, Duration::ZERO, modules),
            check,
            watch,
            paths: master.paths.clone(),
            files,
            names,
            slots,
            copies,
            generation: runtime.generation(),
            is_due: false,
            next_copy: None,
            next_return: None,
            failed_returns: 0,
            status_file,
            written: None,
            next_write: Duration::ZERO,
            logged: LoggedErrors::default(),
            start: Instant::now(),
        })
    }

    pub(super) fn attend(&mut self, runtime: &Runtime) {
        self.is_due |= self.watch.is_quiet();
        if runtime.generation() != self.generation {
            self.adopt(runtime);
        }
        if runtime.generation() == 0 {
            self.publish(runtime);
            return;
        }
        if self.health.is_open() {
            self.ask(runtime);
        }
        let now = self.start.elapsed();
        if runtime.generation() == self.generation
            && !runtime.has_other_watch()
            && let Some((_, modules, reason)) = self.next_return.take_if(|(at, ..)| *at <= now)
        {
            self.go_back(runtime, &modules, &reason);
        }
        if runtime.generation() != self.generation || runtime.has_other_watch() {
            // Code of the host has reloaded or unloaded the Master, or has started a new watch.
            return;
        }
        if self.next_copy.take_if(|at| *at <= now).is_some() {
            self.health.retry_copies();
            self.is_due = true;
        }
        if self.is_due && !self.health.is_open() {
            self.is_due = false;
            self.load(runtime);
        }
        self.publish(runtime);
    }

    /// Checks if a watched file has changed since the last load, for example during a window.
    pub(super) fn has_change(&mut self) -> bool {
        self.watch.has_change() || self.is_due || self.next_copy.is_some()
    }

    /// Calls the health function, and returns to the last healthy libraries if necessary.
    fn ask(&mut self, runtime: &Runtime) {
        let called = panic_guard::caught(|| (self.check.code)(runtime));
        let answer = called.unwrap_or_else(|message| Err(format!("the health function panicked: {message}")));
        if runtime.generation() != self.generation || runtime.has_other_watch() {
            return;
        }
        let verdict = self.health.judge(self.start.elapsed(), &answer);
        let reason = answer.err().unwrap_or_default();
        match verdict {
            Verdict::Wait => {}
            Verdict::Keep => {
                self.next_return = None;
                self.forget_copies();
                log!(INFO, generation = self.generation, "the code was healthy for its window, and stays");
            }
            Verdict::Stuck => log!(ERROR, reason, "the code is unhealthy, and no earlier library is known"),
            Verdict::Return(modules) => {
                self.failed_returns = 0;
                self.go_back(runtime, &modules, &reason);
            }
        }
    }

    /// Loads the last healthy libraries of these modules again.
    fn go_back(&mut self, runtime: &Runtime, modules: &[usize], reason: &str) {
        self.next_return = None;
        let names: Vec<_> = modules.iter().map(|&at| name_of(&self.files[at])).collect();
        let names = names.join(", ");
        log!(WARN, reason, "the new code of {names} is unhealthy: the earlier code is loaded again");
        let digests = self.digests(modules, |at| self.health.good(at));
        let outcome = self.reload(runtime, &digests, modules, Some((names.as_str(), reason)));
        if let Err(error) = &outcome {
            log!(ERROR, error, "the earlier code of {names} was not loaded again");
            let delay = LONG_RETRY * (1_u32 << self.failed_returns.min(MOST_DOUBLINGS));
            self.failed_returns += 1;
            self.next_return = Some((self.start.elapsed() + delay, modules.to_vec(), reason.to_owned()));
        }
        self.health.returned(modules, reason, &outcome);
        self.forget_copies();
    }

    /// Copies the changed files, and loads the copies. The private copy of a library therefore always contains the running code.
    fn load(&mut self, runtime: &Runtime) {
        let Some((bytes, digests)) = self.read(runtime) else { return };
        let changed = self.health.found(&digests);
        if changed.is_empty() && !self.paths.iter().any(|path| path.is_dir()) {
            return;
        }
        let is_whole = |at: &usize| is_complete(&self.files[*at], &bytes[*at], largest(runtime));
        if !changed.iter().all(is_whole) {
            // A program still writes the file. Schedules a further attempt, because some systems do not report the end of the write as a
            // change.
            self.next_copy = self.next_copy.or(Some(self.start.elapsed() + LONG_RETRY));
            return;
        }
        let outcome =
            changed.iter().try_for_each(|&at| self.keep(runtime, at, &digests[at], &bytes[at])).map_err(|error| {
                format!("no copy can be made in {}: {error}; free space there", runtime.stage_dir().display())
            });
        let is_uncopied = outcome.is_err();
        if is_uncopied {
            self.next_copy = Some(self.start.elapsed() + LONG_RETRY);
        } else {
            self.logged.clear(stage_dir(runtime).path());
        }
        let sources = self.digests(&changed, |at| Some(digests[at].as_str()));
        match outcome.and_then(|()| self.reload(runtime, &sources, &changed, None)) {
            Ok(()) => {
                self.next_return.take_if(|_| !changed.is_empty());
                self.health.committed(self.start.elapsed(), &changed, &digests);
            }
            Err(reason) => {
                if !is_uncopied || self.logged.is_new(stage_dir(runtime).path(), &reason) {
                    log!(WARN, reason, "the changed files were not loaded, and the old code continues");
                }
                self.health.refused(&changed, &digests, &reason, is_uncopied);
            }
        }
        self.forget_copies();
    }

    /// Records the running code as the current code of the watch, after the host has reloaded or unloaded modules directly.
    fn adopt(&mut self, runtime: &Runtime) {
        self.generation = runtime.generation();
        let master = runtime.inner.loads.master();
        let (paths, modules) = master.map(|master| (master.paths, master.modules)).unwrap_or_default();
        let mut found = Vec::new();
        for at in 0..self.files.len() {
            let located = paths::locate(&paths, &modules, &self.files[at], &self.names[at]);
            self.slots[at] = located.as_ref().map(|(slot, _)| *slot);
            let Some((slot, module)) = located else {
                if self.health.runs(at).is_some() {
                    log!(WARN, "{} is absent from the Master, and is not loaded", self.files[at].display());
                }
                found.push(None);
                continue;
            };
            module.name().clone_into(&mut self.names[at]);
            let watched = read_with_digest(runtime, &self.files[at]);
            found.push(Some(Adopted {
                digest: self.digest_of(runtime, at, &module, &paths[slot], watched.as_ref()),
                file: watched.map(|(digest, _bytes)| digest),
                is_elsewhere: paths[slot] != self.files[at],
            }));
        }
        self.paths = paths;
        self.health.adopted(self.start.elapsed(), found);
        // Cancels the pending return for modules whose running code is no longer unhealthy.
        if let Some((_, modules, _)) = &mut self.next_return {
            modules.retain(|&at| self.health.is_unhealthy(at));
        }
        self.next_return.take_if(|(_, modules, _)| modules.is_empty());
        self.forget_copies();
    }

    /// Returns the digest of the file whose code runs as `module`, and keeps a copy of this file. If no file and no copy contain the code,
    /// returns `image:` and the digest of the image. The host cannot return to such code. `watched` contains the digest and the bytes of
    /// the watched file.
    fn digest_of(
        &mut self,
        runtime: &Runtime,
        at: usize,
        module: &MasterModule,
        path: &Path,
        watched: Option<&(String, Vec<u8>)>,
    ) -> String {
        let image = module.info().digest;
        let origin = module.info().origin.clone();
        for file in origin.as_deref().into_iter().chain([path]) {
            let is_watched = file == self.files[at];
            let other = if is_watched { None } else { read_with_digest(runtime, file) };
            let Some((digest, bytes)) = other.as_ref().or(watched.filter(|_| is_watched)) else { continue };
            if ImageFile::from_bytes(file, bytes.clone()).is_ok_and(|read| read.digest() == image) {
                if let Err(error) = self.keep(runtime, at, digest, bytes) {
                    log!(WARN, %error, "{} is not copied, so the host cannot return to it", file.display());
                }
                return digest.clone();
            }
        }
        if let Some(copy) = self.copies.iter().find(|copy| copy.image == Some(image)) {
            return copy.digest.clone();
        }
        log!(WARN, "the file of the running {} was replaced, so the host cannot return to it", module.name());
        format!("image:{image}")
    }

    /// Reads the files of the modules in the Master. Returns `None` if a file cannot be read, for example because the file is just being
    /// replaced. Schedules a further attempt unless the file is absent. Without this attempt, the watch would not read the file again after
    /// a temporary error, such as a lack of file descriptors.
    fn read(&mut self, runtime: &Runtime) -> Option<(Vec<Vec<u8>>, Vec<String>)> {
        let mut bytes = Vec::new();
        for (file, slot) in self.files.iter().zip(&self.slots) {
            if slot.is_none() {
                bytes.push(Vec::new());
                continue;
            }
            match plain_file::read(file, largest(runtime)) {
                Ok(content) => {
                    self.logged.clear(file);
                    bytes.push(content);
                }
                Err(error) => {
                    if self.logged.is_new(file, &error) {
                        log!(WARN, %error, "{} cannot be read, so the old code continues", file.display());
                    }
                    if error.kind() != io::ErrorKind::NotFound {
                        self.next_copy = self.next_copy.or(Some(self.start.elapsed() + LONG_RETRY));
                    }
                    return None;
                }
            }
        }
        let digests = bytes.iter().map(|content| plain_file::sha256(content)).collect();
        Some((bytes, digests))
    }

    fn keep(&mut self, runtime: &Runtime, at: usize, digest: &str, bytes: &[u8]) -> io::Result<()> {
        if self.copies.iter().all(|copy| copy.digest != digest) {
            self.copies.push(KeptCopy::new(stage_dir(runtime), &self.files[at], digest, bytes)?);
        }
        Ok(())
    }

    /// Removes the copies that the watch no longer needs. Keeps the running libraries and the last healthy libraries.
    fn forget_copies(&mut self) {
        let health = &self.health;
        self.copies.retain(|copy| health.needs(&copy.digest));
    }

    /// Returns the digests of the running libraries. Takes the digests of the libraries in `replaced` from `new`.
    fn digests<'a>(&'a self, replaced: &[usize], new: impl Fn(usize) -> Option<&'a str>) -> Vec<Option<String>> {
        let digest = |at| if replaced.contains(&at) { new(at) } else { self.health.runs(at) };
        (0..self.files.len()).map(|at| digest(at).map(str::to_owned)).collect()
    }

    /// Reloads the current libraries of the Master from private copies. `digests` identifies the copy for each library. After the reload,
    /// the Master lists the watched file as the path of each module in `replaced`. The report contains the paths of the watched files, and
    /// no path of a copy. `back` contains the library names and the reason if the reload is a return to healthy libraries.
    fn reload(
        &mut self,
        runtime: &Runtime,
        digests: &[Option<String>],
        replaced: &[usize],
        back: Option<(&str, &str)>,
    ) -> Result<(), String> {
        let (mut sources, mut paths) = (self.paths.clone(), self.paths.clone());
        let (mut names, mut is_known) = (Vec::new(), true);
        for (at, digest) in digests.iter().enumerate() {
            let (Some(digest), Some(slot)) = (digest, self.slots[at]) else { continue };
            let is_replaced = replaced.contains(&at);
            let Some(copy) = self.copies.iter_mut().find(|copy| copy.digest == *digest) else {
                if is_replaced {
                    let file = self.files[at].display();
                    return Err(format!("no copy of {digest} was kept, so no return is possible: replace {file}"));
                }
                // Without a copy, the module is loaded from its path. The file at this path may contain new code now.
                is_known = false;
                continue;
            };
            let lost = |error: io::Error| format!("the copy of {} cannot be read: {error}", self.files[at].display());
            sources[slot] = copy.path(stage_dir(runtime)).map_err(lost)?;
            if is_replaced {
                paths[slot].clone_from(&self.files[at]);
            }
            names.push((shown(&sources[slot]), shown(&paths[slot])));
        }
        let named = |text: String| names.iter().fold(text, |text, (copy, file)| text.replace(copy, file));
        let reloaded = match back {
            Some(_) => runtime.reload_back((&sources, &paths)),
            None => runtime.reload_within((&sources, &paths), ReloadScope::Changed, (1, BudgetUse::Limited)),
        };
        let mut report: ReloadReport = reloaded.map_err(|error| named(error.to_string()))?;
        let outcome = match &mut report.outcome {
            Outcome::Committed => Ok(()),
            Outcome::RolledBack { phase, error } => {
                *error = named(std::mem::take(error));
                Err(format!("{phase}: {error}"))
            }
        };
        report.warnings.extend(back.map(|(names, reason)| match &outcome {
            Ok(()) => format!("{names} returned to the last healthy library: {reason}"),
            Err(_) => format!("{names} did not return to the last healthy library, and is still unhealthy: {reason}"),
        }));
        runtime.inner.reloads.push(report);
        if outcome.is_ok() {
            self.rename(runtime, replaced, &sources);
            self.paths = paths;
        }
        // If the loaded code is unknown, stores a generation that never exists, so that the next safe point calls `adopt`.
        self.generation = if is_known { runtime.generation() } else { u64::MAX };
        outcome
    }

    /// Updates the names of the modules in `replaced`, because a new build may have changed the module name.
    fn rename(&mut self, runtime: &Runtime, replaced: &[usize], sources: &[PathBuf]) {
        let modules = runtime.inner.loads.modules();
        for &at in replaced {
            let source = self.slots[at].map(|slot| sources[slot].as_path());
            if let Some(module) = modules.iter().find(|module| module.info().origin.as_deref() == source) {
                module.name().clone_into(&mut self.names[at]);
            }
        }
    }

    /// Returns the registration site of the health function.
    pub(in crate::runtime) fn site(&self) -> Site {
        self.check.site
    }

    /// Drops the watch at the end of the host. Keeps the status file, which contains the id of the process that has ended.
    pub(in crate::runtime) fn let_go(self, host: HostId) {
        let_go(host, [self.check]);
    }
}

/// Returns the folder of the copies.
fn stage_dir(runtime: &Runtime) -> &StageDir {
    &runtime.inner.loads.registry.stage_dir
}

/// Returns the size limit that the host has set for libraries.
fn largest(runtime: &Runtime) -> u64 {
    stage_dir(runtime).demands().largest
}

fn read_with_digest(runtime: &Runtime, file: &Path) -> Option<(String, Vec<u8>)> {
    let bytes = plain_file::read(file, largest(runtime)).ok()?;
    Some((plain_file::sha256(&bytes), bytes))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
