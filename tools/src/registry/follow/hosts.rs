//! Hosts during a rollout: checks the files of the hosts, replaces these files, and returns the hosts to their last good files.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::plain_file::{self, LARGEST_LIBRARY, Replacement, sha256};
use alcedo_runtime::{ContextError, HostStatus, ManifestInfo, Version};
use anyhow::{anyhow, bail};

use super::document::{Document, Host};
use super::event::Event;
use super::rollout::{Files, Progress, check_age, is_absent, observe};
use super::state::Library;
use super::status::{Report, process_of};
use super::{Follower, POLL, read};
use crate::error::{Error, file, one_line};
use crate::registry::file_name;

/// A host during a rollout.
pub(super) struct Target {
    pub(super) name: String,
    pub(super) host: Host,
    /// Time at which the files were written, and the id and start time of the host's process at this time. `None` if the host does not have
    /// the files.
    pub(super) written: Option<(Instant, Option<(u32, u64)>)>,
    /// Set after the event `Healthy` for this host was printed.
    pub(super) is_reported: bool,
    /// Reason why the files could not be written.
    failure: Option<String>,
}

impl Follower<'_> {
    /// Checks all hosts. Records the last good files of each host before the first file is written.
    ///
    /// # Errors
    /// Fails if a host does not have a library of the document, has unloaded this library, or has a newer version of it. Also fails if the
    /// library is damaged and its last good content is not known.
    pub(super) fn prepare(
        &mut self,
        document: &Document,
        libraries: &[Library],
        expected: &Files,
    ) -> Result<Vec<Target>, Error> {
        let mut targets = Vec::new();
        for host in &document.hosts {
            let name = host.name();
            // Forgets modules that an earlier document had. A program may have replaced their files since.
            if !self.state.is_unfinished
                && let Some(files) = self.state.good.get_mut(&name)
            {
                files.retain(|file, _| expected.contains_key(file));
            }
            let report = Report::read(&host.status);
            let status = report.running();
            let mut has_all = true;
            for library in libraries {
                let file_name = file_name(&library.module);
                let path = host.plugins.join(&file_name);
                if is_absent(&report, &file_name) {
                    bail!(
                        "the host {name} is refused: it has unloaded {file_name}, and its watch does not load it: load it there"
                    );
                }
                let bytes = plain_file::read(&path, LARGEST_LIBRARY).map_err(|error| missing(&path, &error))?;
                let digest = sha256(&bytes);
                if digest == library.digest {
                    continue;
                }
                has_all = false;
                let known = self.state.good.get(&name).and_then(|files| files.get(&file_name));
                // If the manifest of the file cannot be read, for example in a damaged file, uses the version that the host runs.
                let running = status.and_then(|status| status.modules.iter().find(|module| module.file == file_name));
                let running = running.map(|module| &module.digest).into_iter().chain(known);
                let manifest = ManifestInfo::peek_bytes(&file_name, &bytes);
                let present = manifest.as_ref().ok().map(|info| info.version.clone());
                let present: Option<Version> = present.or_else(|| self.state.version_of(running));
                // Checks the host's report, because an operator may have replaced the file manually. If the host reports this file as
                // healthy, the file becomes the last good file.
                let is_healthy = status.is_some_and(|status| runs(status, &file_name, &digest));
                // Permits an older version if it is the last good library. A document that changes during a rollout may specify this
                // library, and then it replaces a newer library that not all hosts have reported as healthy.
                let is_return = (self.state.is_unfinished || !is_healthy) && known == Some(&library.digest);
                let permits = self.args.allow_older || is_return;
                check_age(&library.module, present.as_ref(), &library.version, permits)
                    .map_err(|reason| anyhow!("the host {name} is refused: {reason}"))?;
                let is_kept = known.is_some_and(|known| self.store.get(known).is_some());
                // Accepts a file without a readable manifest if the host runs the file, or never returns to the file.
                if !is_kept
                    && !is_healthy
                    && let Err(error @ ContextError::BadImage { .. }) = &manifest
                {
                    let error = one_line(&error.to_string());
                    bail!(
                        "the host {name} is refused: {error}; no good content of this file is stored: replace the file with a good library"
                    );
                }
                if !is_kept || is_healthy {
                    self.store.put(&digest, &bytes)?;
                    self.state.good.entry(name.clone()).or_default().insert(file_name, digest);
                }
            }
            let written = has_all.then(|| (Instant::now(), status.map(process_of)));
            targets.push(Target { name, host: host.clone(), written, is_reported: false, failure: None });
        }
        for (file, digest) in expected {
            if self.store.get(digest).is_none() {
                bail!("the stored library {file} is damaged: follow the document again");
            }
        }
        self.state.is_unfinished = true;
        self.store.save(&self.state)?;
        Ok(targets)
    }

    /// Replaces the files of a host. If the replacement fails, the host counts as unhealthy.
    pub(super) fn write(&self, target: &mut Target, expected: &Files) {
        let report = Report::read(&target.host.status);
        target.written = Some((Instant::now(), report.running().map(process_of)));
        match self.replace(&target.host, expected) {
            Ok(_) => self.out.print(&Event::Written { host: &target.name }),
            Err(error) => target.failure = Some(error.to_string()),
        }
    }

    /// Replaces the files of a host that differ from the stored libraries. Returns `true` if a file was replaced. All contents are written
    /// before the first file is replaced, so that a host does not load a new library together with old libraries.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or if its library is not stored.
    fn replace(&self, host: &Host, files: &Files) -> Result<bool, Error> {
        let mut new = Vec::new();
        for (name, digest) in files {
            let path = host.plugins.join(name);
            if plain_file::read(&path, LARGEST_LIBRARY).is_ok_and(|bytes| sha256(&bytes) == *digest) {
                continue;
            }
            let bytes = self.store.get(digest);
            let bytes =
                bytes.ok_or_else(|| anyhow!("the stored library {digest} for {} is missing", path.display()))?;
            new.push(Replacement::new(&path, &bytes).map_err(file("write", &path))?);
        }
        let is_changed = !new.is_empty();
        new.into_iter().try_for_each(Replacement::commit).map_err(file("write", &host.plugins))?;
        Ok(is_changed)
    }

    /// Returns all hosts of the document to their last good files. Waits until the hosts report these files, at most for the time limit of
    /// the document. The wait also ends if the file of the document has valid content other than `text`, which may repair the hosts.
    ///
    /// # Errors
    /// Fails if the state cannot be saved, or if the files of a host cannot be written. A later call continues the return. Failures of a
    /// single host are only printed.
    pub(super) fn go_back(&mut self, document: &Document, text: &str) -> Result<(), Error> {
        let (mut waiting, mut is_undone) = (Vec::new(), true);
        for host in &document.hosts {
            let name = host.name();
            let Some(files) = self.state.good.get(&name).cloned() else {
                let reason = "no earlier files are known";
                self.out.print(&Event::NotReturned { host: &name, reason });
                continue;
            };
            match self.replace(host, &files) {
                Ok(true) => waiting.push((name, host, files)),
                Ok(false) => {}
                Err(error) => {
                    is_undone = false;
                    self.out.print(&Event::NotReturned { host: &name, reason: &error.to_string() });
                }
            }
        }
        let begun = Instant::now();
        let has_successor =
            || !self.args.once && read(&self.path).is_ok_and(|next| next != text && Document::parse(&next).is_ok());
        let mut is_superseded = false;
        while !waiting.is_empty() {
            waiting.retain(|(name, host, files)| {
                let is_back = Report::read(&host.status)
                    .running()
                    .is_some_and(|status| files.iter().all(|(file, digest)| runs(status, file, digest)));
                if is_back {
                    self.out.print(&Event::Returned { host: name });
                }
                !is_back
            });
            is_superseded = has_successor();
            if is_superseded || begun.elapsed() >= document.patience {
                break;
            }
            thread::sleep(POLL);
        }
        for (name, ..) in &waiting {
            let seconds = begun.elapsed().as_secs();
            let reason = match is_superseded {
                true => format!("the host has not reported them after {seconds} s, and the next document follows"),
                false => format!("the host has not reported them after {seconds} s: does it run?"),
            };
            self.out.print(&Event::NotReturned { host: name, reason: &reason });
        }
        self.state.is_unfinished = !is_undone;
        // Keeps the libraries of an interrupted rollout, because its document may be followed again.
        let saved = match &self.state.failed {
            Some(failure) if failure.document == document.id => self.settle(document),
            _ => self.store.save(&self.state),
        };
        // Repeats the return later if the state cannot be saved, because the failure of the document may not be saved either.
        saved.inspect_err(|_| self.state.is_unfinished = true)?;
        if !is_undone {
            bail!("the last good files of a host were not written: remove the reason, and follow the document again");
        }
        Ok(())
    }
}

pub(super) fn progress_of(target: &Target, expected: &Files, patience: Duration) -> Progress {
    if let Some(reason) = &target.failure {
        return Progress::Unhealthy(reason.clone());
    }
    let Some((since, process)) = target.written else { return Progress::Pending };
    // Treats a damaged status file like a missing file, because the host replaces the file with its next status.
    observe(expected, &Report::read(&target.host.status), process, (since.elapsed(), patience))
}

/// Returns `true` if a host runs the version of `file` with this digest, and has rejected no later version.
fn runs(status: &HostStatus, file: &str, digest: &str) -> bool {
    let module = status.modules.iter().find(|module| module.file == file);
    module.is_some_and(|module| {
        module.digest == digest && module.state == alcedo_runtime::ModuleState::Running && module.rejected.is_none()
    })
}

/// Returns the error for a library that a host does not have.
fn missing(path: &Path, error: &io::Error) -> Error {
    anyhow!(
        "could not read {}: {error}; a watch replaces only libraries that its host has loaded, so put the first build there and start the host",
        path.display()
    )
}
