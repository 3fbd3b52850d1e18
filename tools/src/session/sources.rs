//! Watches source files, and receives events about changed files.

use std::path::PathBuf;
use std::time::Duration;

use alcedo_build::{SourceCrate, SourceEvent, SourceWatch};

use super::Session;
use super::targets::{self, Target};
use crate::error::Error;
use crate::world::World;

/// Watched sources of a host and its plugins.
pub(crate) struct Sources {
    pub(super) dirs: Vec<PathBuf>,
    pub(super) targets: Vec<Target>,
    pub(super) watch: SourceWatch,
}

impl Sources {
    /// Watches the sources of the plugins in `dirs` and of the host.
    ///
    /// # Errors
    /// Fails if a folder contains no plugins. Also returns errors of the operating system.
    pub(crate) fn watch(dirs: Vec<PathBuf>, host: Option<&SourceCrate>) -> Result<Self, Error> {
        let targets = targets::find(host, &dirs)?;
        let watch = targets::watch(&targets)?;
        Ok(Self { dirs, targets, watch })
    }
}

impl<W: World> Session<W> {
    /// Receives all pending events before a build starts, because a pending event would cancel this build.
    pub(super) fn receive_sources(&mut self) {
        let events: Vec<_> = self.watch.receiver().try_iter().collect();
        events.into_iter().for_each(|event| self.source_event(event));
    }

    pub(super) fn source_event(&mut self, event: SourceEvent) {
        // Ignores the lock file during a build in which cargo itself may write this file.
        if self.job.as_ref().is_some_and(|job| job.may_write_lock) && event.path.ends_with("Cargo.lock") {
            return;
        }
        let at = event.at.saturating_duration_since(self.started);
        self.edited = Some(self.edited.map_or(at, |first| first.min(at)));
        self.debounce.add(at, &event.path);
    }

    /// Returns true if more sources have changed since the change at `edited`. In this case, also records `changed` again, so that one
    /// build covers all changes.
    pub(super) fn is_postponed(&mut self, edited: Duration, changed: &[PathBuf]) -> bool {
        self.receive_sources();
        if self.debounce.due(self.now()).is_none() {
            return false;
        }
        let now = self.now();
        changed.iter().for_each(|path| self.debounce.add(now, path));
        self.edited = Some(edited);
        true
    }
}
