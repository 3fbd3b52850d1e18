//! Watches the libraries of the Master, and returns to the last healthy library if new code is unhealthy. This file contains the
//! operations of [`Runtime`], `watching.rs` the steps of the watch, and `reload/health.rs` the decision logic.

use std::path::PathBuf;
use std::time::Duration;

use super::Runtime;
use crate::callback::{Registered, Site};
use crate::error::Error;
use crate::reload::watch::FileWatch;

mod copies;
mod errors;
mod paths;
mod watching;

pub(super) use self::watching::Watching;

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
    check: Registered<Check>,
    status_file: Option<PathBuf>,
}

impl HealthWatch {
    /// Creates a watch whose health window has this duration. At each safe point during the window, the host calls `check` on the game
    /// thread. If `check` returns an error or panics, the new code is unhealthy. If `check` itself reloads or unloads the Master, or starts
    /// another watch, the result of `check` is ignored.
    #[track_caller]
    pub fn new(window: Duration, check: impl FnMut(&Runtime) -> Result<(), String> + 'static) -> Self {
        let site = Site::new("health function", &check);
        let code: Check = Box::new(check);
        Self { window, check: Registered { code, site }, status_file: None }
    }

    /// Writes a [`HostStatus`](crate::HostStatus) to this file whenever the status changes. `alcedo follow` and other programs read the
    /// file. Each write replaces the file atomically. The file is removed when another watch replaces this watch. The folder of the file
    /// must exist, and the file must not be a watched library. Each running host needs a separate status file. After a host process has
    /// ended, the next process of this host may use the file again.
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
    /// Watches the files like [`Runtime::watch_changed`], and checks new code during a health window. A window opens when the watch starts,
    /// and after each reload that commits a watched library. If the check fails during the window, an ordinary reload returns to the last
    /// healthy library. [`Runtime::take_reloads`] also returns the report of this reload. If the return to the healthy library fails, the
    /// host repeats the return after some seconds. If files change during a window, they are loaded after the window.
    ///
    /// The host keeps private copies of the running libraries and of the last healthy libraries. An unhealthy library is loaded again only
    /// after its file was replaced. The limit [`Builder::parked_budget`](crate::Builder::parked_budget) does not prevent a return. If a
    /// return exceeds this limit, the report contains a warning.
    ///
    /// The host may also reload or unload modules directly during the watch. The watch does not load a watched library that the Master no
    /// longer contains, and does not watch modules that the host adds. Code that the host has loaded directly also has a window, and can
    /// become the last healthy code. Only libraries have a health window. Script packages are reloaded without a health window. This watch
    /// replaces an earlier watch. Under `alcedo dev`, this method only calls [`Runtime::watch_changed`], because `alcedo dev` itself
    /// restores broken builds.
    ///
    /// # Errors
    /// Fails if no Master is loaded, if a library file has changed since the library was loaded, or if a library file cannot be read,
    /// copied or watched. Also fails if the path of the status file is empty, is the path of a watched library, or has a folder that does
    /// not exist.
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
        let mut watching = Box::new(Watching::start(self, watch)?);
        // Scripts may have changed since their load.
        if self.inner.watch.take().is_some_and(|mut earlier| earlier.has_change()) {
            watching.watch.note_change();
        }
        if let Some(earlier) = self.inner.health.replace(Some(watching)) {
            self.end_replaced(earlier);
        }
        Ok(())
    }

    /// Runs the health watch at a safe point.
    pub(super) fn attend_health(&self) {
        // Removes the watch from its cell during the check, because the health function may call this runtime.
        let Some(mut watching) = self.inner.health.take() else { return };
        watching.attend(self);
        if !self.has_other_watch() {
            let _none = self.inner.health.replace(Some(watching));
        } else if self.inner.has_ended.get() {
            watching.let_go(self.inner.loads.registry.id());
        } else {
            self.end_replaced(watching);
        }
    }

    /// Checks if the host has ended, or if a new watch was started. Called after each step in which the health watch runs code of the host.
    pub(super) fn has_other_watch(&self) -> bool {
        self.inner.has_ended.get() || self.inner.watch.borrow().is_some() || self.inner.health.borrow().is_some()
    }

    /// Ends the health watch, because a new watch replaces this health watch.
    pub(super) fn end_health_watch(&self) {
        if let Some(watching) = self.inner.health.take() {
            self.end_replaced(watching);
        }
    }

    /// Ends a health watch that a new watch has replaced. The new watch loads the changes that the health watch has not loaded yet.
    fn end_replaced(&self, mut watching: Box<Watching>) {
        if watching.has_change() {
            self.inner.watch.borrow_mut().iter_mut().for_each(FileWatch::note_change);
            self.inner.health.borrow_mut().iter_mut().for_each(|next| next.watch.note_change());
        }
        let next = self.inner.health.borrow().as_ref().and_then(|next| next.status_file.clone());
        watching.withdraw(next.as_deref());
    }
}
