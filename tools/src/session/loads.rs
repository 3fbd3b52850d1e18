//! Loads builds into the world of a session, one at a time, and handles the results.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use alcedo_runtime::ReloadReport;
use alcedo_runtime::development::link::ToHost;

use super::again::BuildLife;
use super::confirm::{self, Builds};
use super::history::BuildNumber;
use super::{Event, FileVersion, Killing, Live, Part, Session};
use crate::world::World;

/// Libraries to load, with their origin.
pub(super) struct Candidate {
    pub(super) build: BuildNumber,
    pub(super) libraries: Vec<PathBuf>,
    /// Build ids of the libraries by module. Empty until the load begins.
    pub(super) expected: Builds,
    pub(super) origin: Origin,
}

/// Origin of libraries to load.
pub(super) enum Origin {
    /// A build that has just completed.
    Built {
        /// Time of the first source change, on the clock of the session.
        edited: Option<Duration>,
        /// Milliseconds of the build. `parts` contains its phases.
        build_ms: f64,
        parts: Vec<Part>,
        /// Versions of the library files in cargo's target folder.
        versions: Vec<FileVersion>,
    },
    /// An earlier generation, at the user's request.
    Back(u64),
    /// The last good build, which is loaded again after a crash.
    Again,
}

impl Candidate {
    pub(super) fn new(build: BuildNumber, libraries: Vec<PathBuf>, origin: Origin) -> Self {
        Self { build, libraries, expected: Builds::new(), origin }
    }
}

impl<W: World> Session<W> {
    /// Loads the code of an earlier generation as a new generation.
    pub(crate) fn back(&mut self, generation: u64) {
        match self.history.find(generation) {
            Ok((build, libraries)) => self.offer(Candidate::new(build, libraries, Origin::Back(generation))),
            Err(error) => self.events.push_back(Event::Failed { error }),
        }
    }

    /// Loads the candidate in the world as soon as possible. If the world hangs, kills the world first. The world then restarts with the
    /// last good build, as after a crash, and loads the candidate.
    pub(super) fn offer(&mut self, candidate: Candidate) {
        self.queue(candidate);
        match self.hang {
            Some(_) => self.kill(Killing::Hang),
            None => self.load_next(),
        }
    }

    /// Replaces the candidate to load next, and deletes its build.
    pub(super) fn queue(&mut self, candidate: Candidate) {
        if let Some(older) = self.next.replace(candidate) {
            self.throw_away(older.build, &older.origin);
        }
    }

    /// Loads the next candidate, unless a load is in progress. A restart in progress loads the candidate into the new process instead.
    pub(super) fn load_next(&mut self) {
        if self.loading.is_none()
            && self.leaving.is_none()
            && self.killing.is_none()
            && !self.world.has_ended()
            && let Some(candidate) = self.next.take()
        {
            self.begin_load(candidate);
        }
    }

    pub(super) fn begin_load(&mut self, candidate: Candidate) {
        self.lives.note(BuildLife::Tried(candidate.build), self.now());
        self.world.request(ToHost::Load { libraries: candidate.libraries.clone() });
        // Reads the build ids while the host loads the libraries.
        let expected = confirm::expected(&candidate.libraries);
        self.loading = Some(Candidate { expected, ..candidate });
    }

    /// Deletes a new build that was never live.
    pub(super) fn throw_away(&self, build: BuildNumber, origin: &Origin) {
        if matches!(origin, Origin::Built { .. }) {
            self.history.discard(build);
        }
    }

    /// Handles the result of a load: the new code is live, or the load was rolled back.
    pub(super) fn loaded(&mut self, generation: u64, builds: &Builds, reload: Option<(Box<ReloadReport>, Instant)>) {
        let Some(Candidate { build, expected, origin, .. }) = self.loading.take() else { return };
        let is_live = reload.as_ref().is_none_or(|(report, _)| report.is_committed());
        let is_first = reload.is_none();
        self.running = (is_live || self.running.is_some()).then_some(generation);
        self.lives.note(if is_live { BuildLife::Live(build) } else { BuildLife::Refused(build) }, self.now());
        match is_live {
            true => self.history.bind(generation, build),
            false => self.throw_away(build, &origin),
        }
        let (edited, build_ms, build_parts, code_of) = match &origin {
            Origin::Built { edited, build_ms, parts, .. } => (*edited, Some(*build_ms), parts.clone(), None),
            Origin::Back(generation) => (None, None, Vec::new(), Some(*generation)),
            Origin::Again => (None, None, Vec::new(), None),
        };
        let problems = if is_live { confirm::problems(&expected, builds) } else { Vec::new() };
        let event = match (reload, &origin) {
            _ if !problems.is_empty() => Event::NotConfirmed { generation, problems },
            (Some((report, live)), _) => {
                let live = live.saturating_duration_since(self.started);
                let edit_to_live_ms =
                    edited.filter(|_| is_live).map(|edited| live.saturating_sub(edited).as_secs_f64() * 1000.0);
                let report = *report;
                Event::Reloaded(Box::new(Live { report, edit_to_live_ms, build_ms, build_parts, code_of }))
            }
            (None, Origin::Again) => Event::Restarted { generation: Some(generation) },
            (None, _) => Event::Started { generation, build_ms: build_ms.unwrap_or_default() },
        };
        self.events.push_back(event);
        if is_first {
            self.restarts.loaded(self.now());
        }
        match origin {
            Origin::Built { versions, .. } if is_live => {
                self.loaded = versions;
                if !is_first {
                    self.restarts.forget();
                    // During a restart, the older program has loaded this build.
                    self.host.iter_mut().for_each(|host| host.is_new &= self.leaving.is_some());
                }
            }
            Origin::Built { .. } => {}
            // Clears the versions, because the libraries in cargo's folder differ from the older code that now runs.
            Origin::Back(_) | Origin::Again => self.loaded.clear(),
        }
        self.load_next();
    }
}
