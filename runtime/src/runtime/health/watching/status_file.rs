//! Status file of a health watch: writes each change of the status, and removes the file when another watch replaces the watch.

use std::fs;
use std::path::Path;
use std::time::Duration;

use alcedo_sys::process;

use super::Watching;
use crate::callback::drop_caught;
use crate::reload::health::HostStatus;
use crate::runtime::Runtime;

/// Time between attempts to write the status file.
const RETRY: Duration = Duration::from_secs(1);

impl Watching {
    /// Ends this watch, because a new watch replaces this watch. Removes the status file of this watch, which would no longer be updated.
    /// `next` is the status file of the next watch.
    pub(in crate::runtime::health) fn withdraw(self, next: Option<&Path>) {
        drop_caught(self.check);
        let Some(path) = self.status_file.as_deref().filter(|_| self.written.is_some()) else { return };
        // The next process of this host may already have replaced the file. If that process runs in a different container, it may have the
        // id of this process.
        let is_of_another = |status: HostStatus| (status.process, status.started) != this_process();
        if next == Some(path) || HostStatus::read(path).ok().flatten().is_some_and(is_of_another) {
            return;
        }
        if let Err(error) = fs::remove_file(path) {
            log!(WARN, %error, "{} belongs to a watch that has ended, and cannot be removed", path.display());
        }
    }

    pub(super) fn publish(&mut self, runtime: &Runtime) {
        let Some(path) = &self.status_file else { return };
        let generation = runtime.generation();
        if self.written.as_ref().is_some_and(|(written, health)| *written == generation && *health == self.health) {
            return;
        }
        let now = self.start.elapsed();
        if now < self.next_write {
            return;
        }
        match self.health.status(this_process(), generation).write(path) {
            Ok(()) => {
                self.logged.clear(path);
                self.written = Some((generation, self.health.clone()));
            }
            Err(error) => {
                self.next_write = now + RETRY;
                if self.logged.is_new(path, &error) {
                    let (path, seconds) = (path.display(), RETRY.as_secs());
                    log!(WARN, "the status cannot be written to {path}: {error}; retries follow every {seconds} s");
                }
            }
        }
    }
}

/// Returns the id and the start time of this process. The start time is zero if it is not known.
fn this_process() -> (u32, u64) {
    let id = std::process::id();
    (id, process::started(id).unwrap_or_default())
}
