//! Creates, replaces and unloads the Master. A reload runs immediately, at the next safe point, or after the library files have changed.

use std::path::{Path, PathBuf};

use super::Runtime;
use crate::error::{A_RELOAD, Error, UNLOADING};
use crate::load::error::LoadError;
use crate::load::master::{self, Unload};
use crate::reload::changes::Pause;
use crate::reload::report::ReloadReport;
use crate::reload::requests::{BudgetUse, ReloadScope, Request};
use crate::reload::transaction;
use crate::reload::watch::FileWatch;

impl Runtime {
    /// Loads libraries into a new Master. With the feature `script`, also loads folders of script packages. All paths must be absolute.
    /// Dormant objects of a world that was loaded without these classes stay dormant until the first [`Runtime::reload`].
    ///
    /// # Errors
    /// Fails if a path is relative, a file is unreadable, or a check fails. Also fails if the `main` of a module or the construction of a
    /// class default object panics. After an error, no module of the new Master stays loaded.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let error = runtime.create_master(&["plugins/libweather.so"]).unwrap_err();
    /// // The path is relative.
    /// assert!(error.to_string().contains("plugins/libweather.so"));
    /// assert_eq!(runtime.generation(), 0);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn create_master(&self, libraries: &[impl AsRef<Path>]) -> Result<(), Error> {
        match self.inner.agent.get().filter(|_| self.generation() == 0) {
            Some(agent) => agent.create(self),
            None => self.create_master_of(&owned(libraries)),
        }
    }

    /// Loads `libraries` like [`Runtime::create_master`], but also under `alcedo dev`, where `create_master` ignores its argument.
    pub(crate) fn create_master_of(&self, libraries: &[PathBuf]) -> Result<(), Error> {
        let busy = self.at_safe_point("creating the Master")?;
        let _held = self.inner.core.hold_posted();
        master::create(&self.inner.core, &self.inner.loads, &self.with_scripts(libraries))?;
        drop(busy);
        if let Err(error) = self.follow_master() {
            log!(WARN, %error, "the libraries of the new Master are not watched");
        }
        Ok(())
    }

    /// Replaces the modules of the Master by `libraries`, and keeps all objects. A failed reload is rolled back, and the report contains
    /// the reason.
    ///
    /// # Errors
    /// Fails if no Master is loaded, or if plugin code or a hook of a native class is on the stack.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// let libraries = ["/opt/game/plugins/libweather.so"];
    /// runtime.create_master(&libraries)?;
    /// // A build has replaced the library.
    /// match runtime.reload(&libraries)?.into_result() {
    ///     Ok(report) => println!("{} objects kept", report.objects_kept),
    ///     Err(report) => eprintln!("the old code continues: {report}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn reload(&self, libraries: &[impl AsRef<Path>]) -> Result<ReloadReport, Error> {
        self.reload_for(&owned(libraries), ReloadScope::All, 0)
    }

    /// Replaces only the modules of the Master whose own library, or a C library that they call, has changed, and the modules that depend
    /// on these modules. `libraries` must contain all libraries of the Master. All remaining modules stay mapped in their generation. The
    /// plugin parts of the remaining modules are not rebuilt, and the handles of the functions of these modules stay valid. If no library
    /// has changed, no module is replaced. The report then states that no library has changed.
    ///
    /// # Errors
    /// Returns the errors of [`Runtime::reload`].
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// let libraries = ["/opt/game/plugins/libweather.so", "/opt/game/plugins/libquests.so"];
    /// runtime.create_master(&libraries)?;
    /// // A build has replaced only libquests.so.
    /// let report = runtime.reload_changed(&libraries)?;
    /// assert_eq!(report.modules, ["quests"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reload_changed(&self, libraries: &[impl AsRef<Path>]) -> Result<ReloadReport, Error> {
        self.reload_for(&owned(libraries), ReloadScope::Changed, 0)
    }

    /// Reloads the Master. `answers` is the number of requests that this reload fulfills. `answers` is zero for a direct call.
    pub(crate) fn reload_for(
        &self,
        libraries: &[PathBuf],
        scope: ReloadScope,
        answers: u64,
    ) -> Result<ReloadReport, Error> {
        self.reload_within((libraries, libraries), scope, (answers, BudgetUse::Limited))
    }

    /// Returns to the last healthy libraries by a reload, even if more images are parked than the host allows.
    pub(super) fn reload_back(&self, libraries: (&[PathBuf], &[PathBuf])) -> Result<ReloadReport, Error> {
        let over_budget = self.inner.loads.registry.check_budget().err();
        let mut report = self.reload_within(libraries, ReloadScope::Changed, (1, BudgetUse::Exempt))?;
        let warning =
            |error: LoadError| format!("`parked_budget` does not limit the return to a healthy library: {error}");
        report.warnings.extend(over_budget.map(warning));
        Ok(report)
    }

    /// Reloads the Master from the paths in `libraries`. Unless the reload fails, the Master then lists the paths in `names`.
    pub(super) fn reload_within(
        &self,
        (libraries, names): (&[PathBuf], &[PathBuf]),
        scope: ReloadScope,
        (answers, budget): (u64, BudgetUse),
    ) -> Result<ReloadReport, Error> {
        let busy = self.at_safe_point(A_RELOAD)?;
        let _held = self.inner.core.hold_posted();
        let (modules, names) = (self.with_scripts(libraries), self.with_scripts(names));
        let (core, loads) = (&self.inner.core, &self.inner.loads);
        let (mut report, paused_since) = transaction::reload(core, loads, (&modules, &names), scope, budget)?;
        report.requests = answers;
        let count = if report.is_committed() { &self.inner.committed } else { &self.inner.rolled_back };
        count.set(count.get() + 1);
        self.inner.core.world.objects.free_graveyard();
        // The modules of the Master are final, so a new watch checks if a build has replaced a library during the reload.
        drop(busy);
        if report.is_committed() {
            let watched = self.follow_master();
            report.warnings.extend(watched.err().map(|error| format!("new libraries are not watched: {error}")));
        }
        report.pause = paused_since.map(|since| Pause::new(since.elapsed(), report.objects_kept)).unwrap_or_default();
        Ok(report)
    }

    /// Requests a reload at the next safe point. Several requests are combined into one reload with the libraries of the last request. A
    /// request to unload the Master discards the requested reload. [`Runtime::take_reloads`] returns the report of the reload. The report
    /// contains the number of combined requests.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use alcedo_runtime::Budget;
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// runtime.request_reload(vec!["/opt/game/plugins/libweather.so".into()]);
    /// runtime.tick(Budget::frame());
    /// for report in runtime.take_reloads() {
    ///     println!("{report}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn request_reload(&self, libraries: Vec<PathBuf>) {
        self.request_reload_of(libraries, ReloadScope::All);
    }

    /// Requests a reload of the modules in `scope`, like [`Runtime::request_reload`]. Combined requests use the widest scope.
    pub fn request_reload_of(&self, libraries: Vec<PathBuf>, scope: ReloadScope) {
        self.inner.requests.borrow_mut().push(Request::Reload { libraries, scope });
    }

    /// Removes and returns the reports of reloads at safe points, oldest first. The runtime stores the last 64 reports.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use alcedo_runtime::Budget;
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// runtime.watch()?;
    /// loop {
    ///     runtime.tick(Budget::frame());
    ///     if let Some(failed) = runtime.take_reloads().into_iter().find(|reload| !reload.is_committed()) {
    ///         eprintln!("{failed}");
    /// #       break;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_reloads(&self) -> Vec<ReloadReport> {
        self.inner.reloads.take()
    }

    /// Watches the files of the Master. After a changed file is completely written, the next safe point performs a reload. The start of a
    /// watch reads each library once, and also reloads if a file has changed since its load. If these files are already watched, that watch
    /// continues without this check. A reload or a new Master with other libraries also changes the watched files.
    ///
    /// # Errors
    /// Fails if no Master is loaded, or if the folders of its libraries cannot be watched.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// // The Master must be created before its files can be watched.
    /// assert!(runtime.watch().is_err());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn watch(&self) -> Result<(), Error> {
        self.watch_for(ReloadScope::All)
    }

    /// Watches the files like [`Runtime::watch`], but replaces only changed modules and their dependents.
    ///
    /// # Errors
    /// Returns the errors of [`Runtime::watch`].
    pub fn watch_changed(&self) -> Result<(), Error> {
        self.watch_for(ReloadScope::Changed)
    }

    fn watch_for(&self, scope: ReloadScope) -> Result<(), Error> {
        let files = match self.inner.agent.get() {
            // `alcedo dev` builds the plugins and reports complete builds. The reported builds do not include the scripts that the host
            // itself loads.
            Some(_) => self.inner.scripts.borrow().clone(),
            None => self.inner.loads.master().ok_or(LoadError::NoMaster)?.paths,
        };
        if self.inner.agent.get().is_some() && files.is_empty() {
            return Ok(());
        }
        // A watch of these files continues, because a file that differs may be a build that was rolled back.
        if !self.inner.watch.borrow().as_ref().is_some_and(|earlier| earlier.has_files(&files)) {
            let mut watch = FileWatch::new(&files)?;
            let demands = self.inner.loads.registry.stage_dir.demands();
            let has_changed =
                || self.inner.loads.modules().iter().any(|module| module.info().has_changed_file(demands));
            // A build may have replaced a library since its load. During a load or a reload, the modules of the Master are not final.
            let is_final = self.inner.agent.get().is_none() && self.inner.busy.get().is_none();
            let is_pending = self.inner.watch.take().is_some_and(|mut earlier| earlier.has_change());
            if is_pending || (is_final && has_changed()) {
                watch.note_change();
            }
            let _none = self.inner.watch.replace(Some(watch));
        }
        self.inner.watch_scope.set(scope);
        // Ends the health watch only here, so that the health watch continues after an error above.
        self.end_health_watch();
        Ok(())
    }

    /// Changes the files of a watch in progress to the files of the Master, whose libraries may have changed.
    fn follow_master(&self) -> Result<(), Error> {
        let is_watched = self.inner.watch.borrow().is_some();
        if is_watched { self.watch_for(self.inner.watch_scope.get()) } else { Ok(()) }
    }

    /// Unloads the Master: destroys the objects whose classes its modules declare, ends the modules, and unmaps their images.
    ///
    /// # Errors
    /// Fails if no Master is loaded, or if plugin code or a hook of a native class is on the stack.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// runtime.create_master(&["/opt/game/plugins/libweather.so"])?;
    /// let unload = runtime.unload_master()?;
    /// println!("{} objects of the plugin were destroyed", unload.objects_ended);
    /// assert_eq!(runtime.generation(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn unload_master(&self) -> Result<Unload, Error> {
        let _busy = self.at_safe_point(UNLOADING)?;
        let unload = master::unload(&self.inner.core, &self.inner.loads)?;
        self.inner.core.world.objects.free_graveyard();
        Ok(unload)
    }

    #[cfg(feature = "script")]
    pub(crate) fn add_scripts(&self, folders: Vec<PathBuf>) {
        self.inner.scripts.borrow_mut().extend(folders);
    }

    /// Returns the modules to load: `libraries` and the script packages of the host.
    fn with_scripts(&self, libraries: &[PathBuf]) -> Vec<PathBuf> {
        let scripts = self.inner.scripts.borrow();
        let more = scripts.iter().filter(|folder| !libraries.contains(folder));
        libraries.iter().chain(more).cloned().collect()
    }
}

fn owned(paths: &[impl AsRef<Path>]) -> Vec<PathBuf> {
    paths.iter().map(|path| path.as_ref().to_owned()).collect()
}
