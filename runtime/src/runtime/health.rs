//! Watches the libraries of the Master, and returns to the last healthy library if new code is unhealthy. `reload/health.rs` decides.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_sys::{ImageError, ImageFile, plain_file};

use super::Runtime;
use crate::error::Error;
use crate::load::error::LoadError;
use crate::panic_guard;
use crate::reload::health::{Health, Verdict};
use crate::reload::report::{Outcome, ReloadReport};
use crate::reload::requests::ReloadScope;
use crate::reload::watch::FileWatch;

/// Time between attempts to write the status file.
const RETRY: Duration = Duration::from_secs(1);

type Check = Box<dyn FnMut(&Runtime) -> Result<(), String>>;

/// Settings of [`Runtime::watch_health`].
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::HealthWatch;
///
/// let watch = HealthWatch::new(Duration::from_secs(10), |runtime| match runtime.counters().objects {
///     0 => Err("no object is alive".to_owned()),
///     _ => Ok(()),
/// });
/// let watch = watch.status_file("/srv/game/status.json");
/// ```
#[must_use = "pass it to `Runtime::watch_health`"]
pub struct HealthWatch {
    window: Duration,
    check: Check,
    status_file: Option<PathBuf>,
}

impl HealthWatch {
    /// Creates a watch whose health window has this duration. The host calls `check` at each safe point of the window, on the game thread.
    /// An error or a panic of `check` means that the new code is unhealthy.
    pub fn new(window: Duration, check: impl FnMut(&Runtime) -> Result<(), String> + 'static) -> Self {
        Self { window, check: Box::new(check), status_file: None }
    }

    /// Writes a [`HostStatus`](crate::HostStatus) to this file whenever the status changes, for `alcedo follow` and other programs. The file is replaced
    /// atomically. Its folder must exist.
    pub fn status_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.status_file = Some(path.into());
        self
    }
}

impl std::fmt::Debug for HealthWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HealthWatch").field("window", &self.window).field("status_file", &self.status_file).finish()
    }
}

impl Runtime {
    /// Watches the files like [`Runtime::watch_changed`], and checks new code during a health window. A window opens after each commit of a
    /// watched library, and when the watch starts. If the code is unhealthy in its window, the host loads the last healthy library again by
    /// an ordinary reload, and [`Runtime::take_reloads`] also returns the report of that reload. Changes during a window are loaded after
    /// the window.
    ///
    /// The host keeps private copies of the running and of the last healthy libraries. An unhealthy library is not loaded again until its
    /// file is replaced. Only libraries have a health window; script packages are reloaded without one. Replaces an earlier watch. Under
    /// `alcedo dev`, which restores broken builds itself, this method is [`Runtime::watch_changed`].
    ///
    /// # Errors
    /// If no Master is loaded, if a library has changed since it was loaded, or if a library cannot be read, copied or watched.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::{Budget, HealthWatch, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.create_master(&["/srv/game/plugins/libweather.so"])?;
    /// let healthy = |runtime: &Runtime| match runtime.calls().call("nm:/weather:Weather:error_count", &[]) {
    ///     Ok(_) => Ok(()),
    ///     Err(error) => Err(error.to_string()),
    /// };
    /// runtime.watch_health(HealthWatch::new(Duration::from_secs(10), healthy).status_file("/srv/game/status.json"))?;
    /// loop {
    ///     runtime.tick(Budget::frame());
    ///     runtime.take_reloads().iter().for_each(|report| println!("{report}"));
    /// #   break;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch_health(&self, watch: HealthWatch) -> Result<(), Error> {
        if self.inner.agent.get().is_some() {
            return self.watch_changed();
        }
        let watching = Box::new(Watching::start(self, watch)?);
        let earlier = (self.inner.watch.take(), self.inner.health.replace(Some(watching)));
        drop(earlier);
        Ok(())
    }

    /// Runs the health watch at a safe point.
    pub(super) fn attend_health(&self) {
        // Removes the watch from its cell, since the health function may call this runtime.
        let Some(mut watching) = self.inner.health.take() else { return };
        watching.attend(self);
        let is_replaced =
            self.inner.has_ended.get() || self.inner.watch.borrow().is_some() || self.inner.health.borrow().is_some();
        if !is_replaced {
            let _none = self.inner.health.replace(Some(watching));
        }
    }

    /// Restores the paths of the Master, which was loaded from private copies.
    fn name_files(&self, paths: &[PathBuf]) {
        if let Some(mut master) = self.inner.loads.master() {
            master.paths = paths.to_vec();
            let _same = self.inner.loads.set_master(Some(master));
        }
    }
}

/// Health watch in progress. Game thread only.
pub(super) struct Watching {
    health: Health,
    check: Check,
    watch: FileWatch,
    /// Paths of the Master.
    paths: Vec<PathBuf>,
    /// Libraries among `paths`, in the order of the modules of `health`.
    files: Vec<PathBuf>,
    copies: Vec<KeptCopy>,
    /// Folder of the copies.
    folder: PathBuf,
    /// Generation of the Master after the last step of this watch.
    generation: u64,
    /// Set if files have changed since the last load.
    is_due: bool,
    status_file: Option<PathBuf>,
    /// Generation and health in the status file.
    written: Option<(u64, Health)>,
    next_write: Duration,
    start: Instant,
}

/// Private copy of a library. Programs that clean the temporary folder may remove the file, so the copy also stays open.
struct KeptCopy {
    digest: String,
    path: PathBuf,
    file: File,
}

impl KeptCopy {
    fn new(folder: &Path, file: &Path, digest: &str, bytes: &[u8]) -> io::Result<Self> {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let short = digest.split_once(':').map_or(digest, |(_, digits)| digits).get(..16).unwrap_or(digest);
        let path = folder.join(format!("watched-{short}-{name}"));
        fs::write(&path, bytes)?;
        let (file, _) = plain_file::open(&path)?;
        Ok(Self { digest: digest.to_owned(), path, file })
    }

    /// Returns the path of the copy, after writing the file again if it was removed.
    fn path(&self) -> io::Result<PathBuf> {
        if !self.path.is_file() {
            let (mut file, mut bytes) = (&self.file, Vec::new());
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut bytes)?;
            fs::write(&self.path, bytes)?;
        }
        Ok(self.path.clone())
    }
}

impl Drop for KeptCopy {
    fn drop(&mut self) {
        // The file may have been removed.
        let _ = fs::remove_file(&self.path);
    }
}

impl Watching {
    fn start(runtime: &Runtime, HealthWatch { window, check, status_file }: HealthWatch) -> Result<Self, Error> {
        let master = runtime.inner.loads.master().ok_or(LoadError::NoMaster)?;
        let failed = |path: &Path| {
            let doing = format!("watching {}", path.display());
            move |source| Error::System { doing, source }
        };
        let watch = FileWatch::new(&master.paths)?;
        let folder = runtime.stage_dir();
        let (mut files, mut modules, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for path in master.paths.iter().filter(|path| !path.is_dir()) {
            let bytes = plain_file::read(path, largest(runtime)).map_err(failed(path))?;
            let digest = plain_file::sha256(&bytes);
            copies.push(KeptCopy::new(&folder, path, &digest, &bytes).map_err(failed(path))?);
            let loaded = master.modules.iter().find(|module| module.info().origin.as_deref() == Some(path.as_path()));
            let is_same = |image: ImageFile| loaded.is_none_or(|module| module.info().digest == image.digest());
            if !ImageFile::from_bytes(path, bytes).is_ok_and(is_same) {
                let reason = "the file has changed since it was loaded: create the Master again, and watch at once";
                return Err(failed(path)(io::Error::other(reason)));
            }
            modules.push((name_of(path), digest));
            files.push(path.clone());
        }
        Ok(Self {
            health: Health::new(window, Duration::ZERO, modules),
            check,
            watch,
            paths: master.paths,
            files,
            copies,
            folder,
            generation: runtime.generation(),
            is_due: false,
            status_file,
            written: None,
            next_write: Duration::ZERO,
            start: Instant::now(),
        })
    }

    fn attend(&mut self, runtime: &Runtime) {
        self.is_due |= self.watch.is_quiet();
        if runtime.generation() == 0 {
            return;
        }
        if runtime.generation() != self.generation {
            self.adopt(runtime);
        }
        if self.health.is_open() {
            self.ask(runtime);
        }
        if runtime.generation() != self.generation {
            // The health function has reloaded or unloaded the Master. The next safe point continues.
            return;
        }
        if self.is_due && !self.health.is_open() {
            self.is_due = false;
            self.load(runtime);
        }
        self.publish(runtime);
    }

    /// Calls the health function, and acts on its answer.
    fn ask(&mut self, runtime: &Runtime) {
        let called = panic_guard::caught(|| (self.check)(runtime));
        let answer = called.unwrap_or_else(|message| Err(format!("the health function panicked: {message}")));
        if runtime.generation() != self.generation {
            return;
        }
        let verdict = self.health.judge(self.start.elapsed(), &answer);
        let reason = answer.err().unwrap_or_default();
        match verdict {
            Verdict::Wait => {}
            Verdict::Keep => {
                self.forget_copies();
                tracing::info!(generation = self.generation, "the code was healthy for its window, and stays");
            }
            Verdict::Stuck => tracing::error!(reason, "the code is unhealthy, and no earlier library is known"),
            Verdict::Return(modules) => self.go_back(runtime, &modules, &reason),
        }
    }

    /// Loads the last healthy libraries of these modules again.
    fn go_back(&mut self, runtime: &Runtime, modules: &[usize], reason: &str) {
        let names: Vec<_> = modules.iter().map(|&at| name_of(&self.files[at])).collect();
        let names = names.join(", ");
        tracing::warn!(reason, "the new code of {names} is unhealthy: the earlier code is loaded again");
        let digests: Vec<_> = (0..self.files.len())
            .map(|at| if modules.contains(&at) { self.health.good(at) } else { self.health.runs(at) }.to_owned())
            .collect();
        let warning = format!("{names} returned to the last healthy library: {reason}");
        let outcome = self.reload(runtime, &digests, Some(warning));
        if let Err(error) = &outcome {
            tracing::error!(error, "the earlier code of {names} was not loaded again");
        }
        self.health.returned(modules, reason, &outcome);
        self.forget_copies();
    }

    /// Loads the files that have changed, from private copies. So the copy of a library always has the bytes that run.
    fn load(&mut self, runtime: &Runtime) {
        let Some((bytes, digests)) = self.read(runtime) else { return };
        let changed = self.health.found(&digests);
        if changed.is_empty() && self.files.len() == self.paths.len() {
            return;
        }
        let is_written = |at: &usize| matches!(ImageFile::read(&self.files[*at]), Err(ImageError::StillWritten { .. }));
        if changed.iter().any(is_written) {
            // The end of the write is another change.
            return;
        }
        let outcome = changed
            .iter()
            .try_for_each(|&at| self.keep(at, &digests[at], &bytes[at]))
            .map_err(|error| format!("no copy can be made in {}: {error}; make room there", self.folder.display()));
        let sources: Vec<_> = (0..self.files.len())
            .map(|at| if changed.contains(&at) { digests[at].as_str() } else { self.health.runs(at) }.to_owned())
            .collect();
        match outcome.and_then(|()| self.reload(runtime, &sources, None)) {
            Ok(()) => self.health.committed(self.start.elapsed(), &changed, &digests),
            Err(reason) => {
                tracing::warn!(reason, "the changed files were not loaded, and the old code continues");
                self.health.refused(&changed, &digests, &reason);
            }
        }
        self.forget_copies();
    }

    /// Records a reload that the host itself has made.
    fn adopt(&mut self, runtime: &Runtime) {
        self.generation = runtime.generation();
        let Some((bytes, digests)) = self.read(runtime) else { return };
        let changed = self.health.found(&digests);
        for &at in &changed {
            if let Err(error) = self.keep(at, &digests[at], &bytes[at]) {
                tracing::warn!(%error, "{} is not copied, so the host cannot return to it", self.files[at].display());
            }
        }
        self.health.committed(self.start.elapsed(), &changed, &digests);
    }

    /// Reads the files. Returns `None` if a file cannot be read: it may be absent for a moment.
    fn read(&self, runtime: &Runtime) -> Option<(Vec<Vec<u8>>, Vec<String>)> {
        let mut bytes = Vec::new();
        for file in &self.files {
            match plain_file::read(file, largest(runtime)) {
                Ok(content) => bytes.push(content),
                Err(error) => {
                    tracing::warn!(%error, "{} cannot be read, so the old code continues", file.display());
                    return None;
                }
            }
        }
        let digests = bytes.iter().map(|content| plain_file::sha256(content)).collect();
        Some((bytes, digests))
    }

    fn keep(&mut self, at: usize, digest: &str, bytes: &[u8]) -> io::Result<()> {
        if self.copies.iter().all(|copy| copy.digest != digest) {
            self.copies.push(KeptCopy::new(&self.folder, &self.files[at], digest, bytes)?);
        }
        Ok(())
    }

    /// Removes copies that are neither running nor the last healthy ones.
    fn forget_copies(&mut self) {
        let health = &self.health;
        self.copies.retain(|copy| health.needs(&copy.digest));
    }

    /// Reloads the Master from the copies with these digests, one for each library. The report names the watched files.
    fn reload(&mut self, runtime: &Runtime, digests: &[String], warning: Option<String>) -> Result<(), String> {
        let mut sources = Vec::new();
        for digest in digests {
            let copy = self.copies.iter().find(|copy| copy.digest == *digest);
            let copy = copy.ok_or_else(|| format!("the copy of {digest} is missing"))?;
            sources.push(copy.path().map_err(|error| format!("{} cannot be read: {error}", copy.path.display()))?);
        }
        let names: Vec<_> = sources.iter().zip(&self.files).map(|(copy, file)| (shown(copy), shown(file))).collect();
        let named = |text: String| names.iter().fold(text, |text, (copy, file)| text.replace(copy, file));
        sources.extend(self.paths.iter().filter(|path| !self.files.contains(path)).cloned());
        let mut report: ReloadReport =
            runtime.reload_for(&sources, ReloadScope::Changed, 1).map_err(|error| named(error.to_string()))?;
        report.warnings.extend(warning);
        let outcome = match &mut report.outcome {
            Outcome::Committed => Ok(()),
            Outcome::RolledBack { phase, error } => {
                *error = named(std::mem::take(error));
                Err(format!("{phase}: {error}"))
            }
        };
        runtime.inner.reloads.push(report);
        runtime.name_files(&self.paths);
        self.generation = runtime.generation();
        outcome
    }

    fn publish(&mut self, runtime: &Runtime) {
        let Some(path) = &self.status_file else { return };
        let generation = runtime.generation();
        if self.written.as_ref().is_some_and(|(written, health)| *written == generation && *health == self.health) {
            return;
        }
        let now = self.start.elapsed();
        if now < self.next_write {
            return;
        }
        match self.health.status(std::process::id(), generation).write(path) {
            Ok(()) => self.written = Some((generation, self.health.clone())),
            Err(error) => {
                self.next_write = now + RETRY;
                tracing::warn!(%error, "the status cannot be written to {}: is its folder there?", path.display());
            }
        }
    }
}

/// Returns the size limit of libraries that the host has set.
fn largest(runtime: &Runtime) -> u64 {
    runtime.inner.loads.registry.stage_dir.demands().largest
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
