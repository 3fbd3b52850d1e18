//! How the Master comes, is replaced, and goes: at once, at the next safe point, or whenever its files change.

use std::path::{Path, PathBuf};

use super::Runtime;
use crate::error::Error;
use crate::load::error::LoadError;
use crate::load::master::{self, Unload};
use crate::reload::report::Reload;
use crate::reload::requests::{ReloadScope, Request};
use crate::reload::transaction;
use crate::reload::watch::FileWatch;

impl Runtime {
    /// Loads libraries into a new Master load context, and packages of scripts: the folders among the paths (feature `script`). Paths are
    /// absolute, as in every load.
    ///
    /// # Errors
    /// Why not: a relative path, the file, the check, the panic of a main or of a class default object. Nothing of them is left then.
    pub fn create_master(&self, libraries: &[impl AsRef<Path>]) -> Result<(), Error> {
        match self.inner.agent.get().filter(|_| self.generation() == 0) {
            Some(agent) => agent.create(self),
            None => self.create_master_of(&owned(libraries)),
        }
    }

    /// As [`Runtime::create_master`], but loads these libraries also where `alcedo dev` runs the host.
    pub(crate) fn create_master_of(&self, libraries: &[PathBuf]) -> Result<(), Error> {
        let _busy = self.at_safe_point("creating the Master")?;
        Ok(master::create(&self.inner.core, &self.inner.loads, &self.with_scripts(libraries))?)
    }

    /// Replaces the modules of the Master by `libraries`, keeping every object. A reload that fails is rolled back,
    /// and its report says why.
    ///
    /// # Errors
    /// When there is no Master, or plugin code is on the stack.
    pub fn reload(&self, libraries: &[impl AsRef<Path>]) -> Result<Reload, Error> {
        self.reload_for(&owned(libraries), ReloadScope::All, 0)
    }

    /// Replaces only those modules of the Master whose library is another build than the one loaded, and those that use
    /// them; `libraries` are all of the Master's. The others stay mapped in their generation: their plugin parts are not
    /// rebuilt, and handles to them stay valid. When no library has changed, nothing happens and the report says so.
    ///
    /// # Errors
    /// As [`Runtime::reload`].
    pub fn reload_changed(&self, libraries: &[impl AsRef<Path>]) -> Result<Reload, Error> {
        self.reload_for(&owned(libraries), ReloadScope::Changed, 0)
    }

    /// Reloads for so many requests; zero when it was requested right here.
    pub(crate) fn reload_for(&self, libraries: &[PathBuf], scope: ReloadScope, answers: u64) -> Result<Reload, Error> {
        let _busy = self.at_safe_point("a reload")?;
        let modules = self.with_scripts(libraries);
        let mut report = transaction::reload(&self.inner.core, &self.inner.loads, &modules, scope)?;
        report.requests = answers;
        let count = if report.is_committed() { &self.inner.committed } else { &self.inner.rolled_back };
        count.set(count.get() + 1);
        self.inner.core.world.objects.free_graveyard();
        Ok(report)
    }

    /// Asks for a reload at the next safe point. Several requests until then are one reload, of the libraries named
    /// last; one that meets a request to unload is moot. The report, which says how many requests it answers, comes out of
    /// [`Runtime::take_reloads`].
    pub fn request_reload(&self, libraries: Vec<PathBuf>) {
        self.request_reload_of(libraries, ReloadScope::All);
    }

    /// Asks for a reload as [`Runtime::request_reload`] does, and says which modules it is to replace. Several requests are
    /// one reload that is as wide as any of them.
    pub fn request_reload_of(&self, libraries: Vec<PathBuf>, scope: ReloadScope) {
        self.inner.requests.borrow_mut().push(Request::Reload { libraries, scope });
    }

    /// The reports of reloads done at safe points since the last time, oldest first; of more than 64 the last.
    pub fn take_reloads(&self) -> Vec<Reload> {
        self.inner.reloads.take()
    }

    /// Watches the files the Master was made from; a changed and complete one is reloaded at the next safe point.
    ///
    /// # Errors
    /// When there is no Master, or its folders cannot be watched.
    pub fn watch(&self) -> Result<(), Error> {
        self.watch_for(ReloadScope::All)
    }

    /// Watches the files as [`Runtime::watch`] does, and replaces only what has changed and what uses it.
    ///
    /// # Errors
    /// As [`Runtime::watch`].
    pub fn watch_changed(&self) -> Result<(), Error> {
        self.watch_for(ReloadScope::Changed)
    }

    fn watch_for(&self, scope: ReloadScope) -> Result<(), Error> {
        if self.inner.agent.get().is_some() {
            // The tool that builds the plugins says when they are whole. What the host loads by itself it does not know.
            let scripts = self.inner.scripts.borrow().clone();
            if !scripts.is_empty() {
                *self.inner.watch.borrow_mut() = Some(FileWatch::new(&scripts)?);
                self.inner.watch_scope.set(scope);
            }
            return Ok(());
        }
        let master = self.inner.loads.master().ok_or(LoadError::NoMaster)?;
        *self.inner.watch.borrow_mut() = Some(FileWatch::new(&master.paths)?);
        self.inner.watch_scope.set(scope);
        Ok(())
    }

    /// Unloads the Master: objects of its classes are destroyed, its modules ended and unmapped.
    ///
    /// # Errors
    /// When there is none, or plugin code is on the stack.
    pub fn unload_master(&self) -> Result<Unload, Error> {
        let _busy = self.at_safe_point("unloading the Master")?;
        let unload = master::unload(&self.inner.core, &self.inner.loads)?;
        self.inner.core.world.objects.free_graveyard();
        Ok(unload)
    }
}

impl Runtime {
    /// Adds packages of scripts to what is loaded from now on.
    #[cfg(feature = "script")]
    pub(crate) fn add_scripts(&self, folders: Vec<PathBuf>) {
        self.inner.scripts.borrow_mut().extend(folders);
    }

    /// The modules that are meant where these are named: the packages of scripts that the host has set are always among them.
    fn with_scripts(&self, libraries: &[PathBuf]) -> Vec<PathBuf> {
        let scripts = self.inner.scripts.borrow();
        let more = scripts.iter().filter(|folder| !libraries.contains(folder));
        libraries.iter().chain(more).cloned().collect()
    }
}

fn owned(paths: &[impl AsRef<Path>]) -> Vec<PathBuf> {
    paths.iter().map(|path| path.as_ref().to_owned()).collect()
}
