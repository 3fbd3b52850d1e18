//! Implements the loop from a saved file to live code for `dev` and `demo`. Watches the sources, builds them, cancels stale builds, and
//! loads the results into a world. The loop blocks only in one `select!`, which receives source changes, ends of builds, commands, and
//! events of the world. A crash or a hang of the world therefore does not block the loop.
//!
//! Returns [`Event`]s and prints nothing.

mod again;
mod confirm;
mod ending;
mod event;
mod history;
mod host;
mod job;
mod loads;
mod new_modules;
mod sources;
mod targets;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use alcedo_build::{Artifact, Debounce, SourceWatch};
use alcedo_runtime::Declared;
use alcedo_runtime::development::link::{FromHost, HangOf};
use alcedo_runtime::development::plain_file;
use crossbeam_channel::select;
use crossbeam_channel::{Receiver, never};
use serde::Serialize;

use crate::command::Command;
use crate::error::Error;
use crate::input::ParsedCommand;
use crate::modules::BuildOptions;
use crate::scripts;
use crate::world::{Printed, Shutdown, World, WorldEvent};
use again::{BuildLife, BuildLives};
use ending::Restarts;
use history::History;
use job::Job;
use loads::{Candidate, Origin};
use new_modules::NewModules;
use targets::Target;

pub(crate) use event::{Event, Live, Part, Status, Step};
pub(crate) use host::HostSources;
pub(crate) use sources::Sources;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// Build when sources change.
    Automatic,
    /// Build only at the user's request.
    Paused,
}

/// Identifies a version of a file by path, modification time and length. Identifies a version of a package of scripts by path and a hash.
type FileVersion = (PathBuf, Option<SystemTime>, u64);

/// Reason for killing a world's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killing {
    /// The user requested the kill.
    Requested,
    Hang,
    /// The world sent an unreadable message.
    Unreadable,
}

/// Runs a world, and watches and builds the sources of its plugins.
pub(crate) struct Session<W: World> {
    dirs: Vec<PathBuf>,
    options: BuildOptions,
    /// The host, if it is built from sources.
    host: Option<HostSources>,
    targets: Vec<Target>,
    /// Indices of the targets to build after the running job: changed since their last build or since the start of the job.
    stale: BTreeSet<usize>,
    /// Versions of the glue files that the session wrote.
    written: BTreeMap<PathBuf, FileVersion>,
    /// Glue files that were rewritten since the running build began. Libraries that were built with the older glue are not loaded.
    rewritten: Vec<PathBuf>,
    watch: SourceWatch,
    /// `true` if the last search for targets failed, for example during `git checkout`. The next change starts another search.
    must_find: bool,
    debounce: Debounce,
    new_modules: NewModules,
    /// Time of the first change that no build contains yet, on the clock of the session.
    edited: Option<Duration>,
    mode: Mode,
    job: Option<Job>,
    pub(crate) world: W,
    history: History,
    lives: BuildLives,
    restarts: Restarts,
    /// Build that the world is loading.
    loading: Option<Candidate>,
    next: Option<Candidate>,
    /// Generation of the loaded plugin code, if any. Stored because a hanging world cannot report its generation.
    running: Option<u64>,
    /// Description of the hanging code. `None` if the world does not hang.
    hang: Option<String>,
    /// Reason for killing the world's process. `None` after the end of the process was reported.
    killing: Option<Killing>,
    /// Deadline for saving the world before a restart, on the clock of the session. `None` if no restart is requested.
    leaving: Option<Duration>,
    /// Types that each library declared after its last build.
    declared: BTreeMap<PathBuf, (FileVersion, Declared)>,
    /// Versions of the libraries whose code is live.
    loaded: Vec<FileVersion>,
    started: Instant,
    events: VecDeque<Event>,
}

impl<W: World> Session<W> {
    /// Starts the first build of the plugins. The program of the host must already be built.
    ///
    /// # Errors
    /// Returns errors of the operating system.
    pub(crate) fn open(
        sources: Sources,
        options: BuildOptions,
        world: W,
        host: Option<HostSources>,
    ) -> Result<Self, Error> {
        let Sources { dirs, mut targets, watch } = sources;
        if let (Some(host), Some(target)) = (&host, targets.iter_mut().find(|target| target.is_host())) {
            target.set_artifacts(vec![host.artifact()]);
            watch.add_inputs(target.inputs.iter().cloned());
        }
        let mut session = Self {
            dirs,
            options,
            host,
            stale: BTreeSet::new(),
            written: BTreeMap::new(),
            rewritten: Vec::new(),
            new_modules: NewModules::new(&targets),
            targets,
            watch,
            must_find: false,
            debounce: Debounce::default(),
            edited: None,
            mode: Mode::Automatic,
            job: None,
            world,
            history: History::new()?,
            lives: BuildLives::default(),
            restarts: Restarts::default(),
            loading: None,
            next: None,
            running: None,
            hang: None,
            killing: None,
            leaving: None,
            declared: BTreeMap::new(),
            loaded: Vec::new(),
            started: Instant::now(),
            events: VecDeque::new(),
        };
        session.stale = session.plugin_targets();
        session.rewrite_glue();
        session.build(None, Vec::new());
        Ok(session)
    }

    /// Runs the world until an event or a command occurs, or until a timeout.
    pub(crate) fn wait(&mut self, commands: &Receiver<ParsedCommand>) -> Step {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Step::Event(event);
            }
            // Handles events before printed lines, because an event that explains a line was usually sent before the line.
            if let Ok(event) = self.world.events().try_recv() {
                self.world_event(event);
                continue;
            }
            self.left(false);
            self.receive_sources();
            let until_settled = self.debounce.due(self.now()).unwrap_or(Duration::MAX);
            if until_settled.is_zero() {
                self.sources_changed();
                continue;
            }
            let patience = until_settled.min(self.world.rest()).min(GLANCE);
            let built = self.job.as_ref().and_then(Job::finished).cloned().unwrap_or_else(never);
            // Prefers ready channels to ticks, so that messages are received even if the ticks of the world are slow.
            select! {
                recv(built) -> _ => self.cargo_ended(),
                recv(self.watch.receiver()) -> event => if let Ok(event) = event {
                    self.source_event(event);
                },
                recv(commands) -> command => return Step::Command(command.unwrap_or(Ok(Command::Quit))),
                recv(self.world.printed()) -> printed => if let Ok(printed) = printed {
                    return Step::Event(Event::Printed(printed));
                },
                recv(self.world.events()) -> event => if let Ok(event) = event {
                    self.world_event(event);
                },
                default(patience) => {
                    if self.world.rest().is_zero() {
                        self.world.attend();
                    }
                    return Step::Tick;
                }
            }
        }
    }

    /// Builds and loads the plugins now, in any mode, even if no source has changed.
    pub(crate) fn reload_by_hand(&mut self) {
        self.receive_sources();
        self.take_changes();
        self.stale.extend(self.plugin_targets());
        self.edited = None;
        self.build(None, Vec::new());
    }

    /// Changes the mode. Sources that change during a pause are built when the mode becomes automatic again.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        if mode == Mode::Automatic {
            self.resume_host();
            if !self.stale.is_empty() {
                self.build(None, Vec::new());
            }
        }
    }

    /// Kills the world's process. An event later reports the end of the process.
    fn kill(&mut self, reason: Killing) {
        // A further kill fails if the process has ended, and the event has not arrived yet.
        if self.world.kill() {
            self.killing = Some(reason);
        }
    }

    pub(crate) fn status(&mut self) -> Status {
        let mut world = self.world.status();
        if let Some(generation) = self.running {
            world.generation = generation;
        }
        Status {
            world,
            mode: self.mode,
            building: self.job.is_some(),
            running: self.running.is_some(),
            hang: self.hang.clone(),
        }
    }

    /// Returns the number of crates that the running build has compiled.
    pub(crate) fn compiled(&self) -> Option<usize> {
        self.job.as_ref().map(Job::compiled)
    }

    /// Ends the build and the world. Passes the world's remaining output to `print`.
    pub(crate) fn shutdown(mut self, print: &mut dyn FnMut(&Printed)) -> Shutdown {
        drop(self.job);
        if self.hang.is_some() {
            // Kills the process, because a hanging world cannot read the request to end.
            self.world.kill();
        }
        self.world.shutdown(print)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn sources_changed(&mut self) {
        let (changed, affected) = self.take_changes();
        let edited = self.edited.take().unwrap_or_else(|| self.now());
        if affected.is_empty() {
            return;
        }
        match self.mode {
            Mode::Automatic => self.build(Some(edited), changed),
            Mode::Paused => self.events.push_back(Event::Noted { changed }),
        }
    }

    /// Removes the pending changes, and records the affected targets as stale. Returns both.
    fn take_changes(&mut self) -> (Vec<PathBuf>, BTreeSet<usize>) {
        let mut changed = self.debounce.take();
        changed.retain(|path| !self.is_own_glue(path));
        if self.must_find || changed.iter().any(|path| path.ends_with("Cargo.toml")) {
            self.find_again();
        }
        self.report_new_modules(&mut changed);
        let mut affected = targets::affected(&self.targets, &changed);
        self.note_host(&mut affected, &changed);
        self.stale.extend(&affected);
        (changed, affected)
    }

    /// Updates the targets and the watched folders, because a changed manifest may specify other sources. If the manifest cannot be read,
    /// the next build reports cargo's error.
    fn find_again(&mut self) {
        self.must_find = true;
        // Watches the workspace that a changed manifest names, even if the next build fails.
        self.watch.add_inputs([]);
        let is_host_found = self.host.as_mut().is_none_or(|host| host.find_again().is_ok());
        let host = self.host.as_ref().map(|host| &host.package);
        let Ok(mut targets) = targets::find(host, &self.dirs) else { return };
        for (new, old) in targets.iter_mut().zip(&self.targets) {
            new.set_artifacts(old.artifacts.clone());
        }
        let (before, now) = (targets::sources(&self.targets), targets::sources(&targets));
        // Keeps the current watch if it covers all folders. The folders of removed plugins then remain watched, so the watch reports
        // plugins that are restored.
        if !now.iter().all(|dir| before.contains(dir)) {
            match targets::watch(&targets) {
                Ok(watch) => {
                    // Keeps changes that the replaced watch has reported during the search.
                    self.receive_sources();
                    self.watch = watch;
                }
                Err(error) => return self.events.push_back(Event::Failed { error: error.to_string() }),
            }
        }
        self.targets = targets;
        self.must_find = !is_host_found;
    }

    /// Builds the targets again whose glue was rewritten during the build `ended`. The libraries of both builds are then loaded together,
    /// as one edit.
    fn build_with_glue(&mut self, ended: Job) {
        let changed = std::mem::take(&mut self.rewritten);
        self.build(ended.edited, changed);
        if let Some(job) = &mut self.job {
            job.millis += ended.millis;
            job.parts = ended.parts;
        }
    }

    /// Returns true if the file is glue that the session wrote.
    fn is_own_glue(&self, path: &Path) -> bool {
        self.written.get(path).is_some_and(|written| *written == file_version(path))
    }

    /// Starts builds of the stale targets. First cancels a running build, because its libraries would be stale. If sources change during
    /// the cancellation, the build starts later, after the quiet window that follows these changes.
    fn build(&mut self, edited: Option<Duration>, changed: Vec<PathBuf>) {
        let canceled = self.job.take().map(|job| (job.unbuilt, job.may_write_lock));
        let may_write_lock = canceled.as_ref().is_some_and(|(_, may_write_lock)| *may_write_lock);
        self.rewritten.clear();
        self.stale.extend(self.deleted_host());
        if let Some((unbuilt, _)) = canceled {
            self.stale.extend(unbuilt);
            self.events.push_back(Event::Canceled);
            if let Some(edited) = edited {
                self.debounce.build_canceled();
                if self.is_postponed(edited, &changed) {
                    return;
                }
            }
        }
        match Job::start(edited, &changed, &self.stale, &self.targets, &self.options) {
            Ok(None) => {}
            Ok(Some(mut job)) => {
                // The canceled build may not have written the lock file yet.
                job.may_write_lock |= may_write_lock;
                self.stale.clear();
                self.job = Some(job);
                self.events.push_back(Event::Building { changed });
            }
            Err(error) => {
                self.debounce.build_ended();
                self.events.push_back(Event::NotBuilt(error));
            }
        }
    }

    fn cargo_ended(&mut self) {
        let Some(mut job) = self.job.take() else { return };
        let (target, artifacts) = match job.collect() {
            Ok(built) => built,
            Err(error) => return self.not_built(job, error),
        };
        let next = job.start_next(&self.targets, &self.options);
        self.targets[target].set_artifacts(artifacts);
        self.watch.add_inputs(self.targets[target].inputs.iter().cloned());
        self.rewrite_module_glue(target);
        let mut ended = None;
        match next {
            Ok(true) => self.job = Some(job),
            Ok(false) => {
                self.debounce.build_ended();
                ended = Some(job);
            }
            Err(error) => self.not_built(job, error),
        }
        if self.targets[target].is_host() {
            self.host_built(target);
        }
        // Loads no libraries if the host's glue was rewritten, because a build of all plugins is then already running.
        if let Some(ended) = ended.filter(|_| self.job.is_none()) {
            match self.rewritten.is_empty() {
                true => self.all_built(ended),
                false => self.build_with_glue(ended),
            }
        }
    }

    fn all_built(&mut self, ended: Job) {
        let Job { edited, millis, warnings, parts, .. } = ended;
        self.events.push_back(Event::Built { millis, warnings });
        let plugins = self.targets.iter().filter(|target| !target.is_host());
        let mut artifacts: Vec<_> = plugins.flat_map(|target| target.artifacts.clone()).collect();
        // A changed manifest may add a plugin to a workspace, although the session also builds the folder of this plugin.
        let mut paths = BTreeSet::new();
        artifacts.retain(|artifact| paths.insert(artifact.path.clone()));
        let versions: Vec<_> = artifacts.iter().map(artifact_version).collect();
        let restarts = self.host.as_mut().is_some_and(HostSources::begin_restart);
        let is_loaded = self.loading.is_none() && self.next.is_none() && versions == self.loaded;
        if restarts && (artifacts.is_empty() || is_loaded) {
            self.leave();
            return;
        }
        if edited.is_some() && is_loaded {
            self.events.push_back(Event::Unchanged);
            return;
        }
        match self.history.keep(&artifacts) {
            Ok((build, libraries)) => {
                let origin = Origin::Built { edited, build_ms: millis, parts, versions };
                let candidate = Candidate::new(build, libraries, origin);
                match restarts {
                    true => {
                        self.queue(candidate);
                        self.leave();
                    }
                    false => self.offer(candidate),
                }
            }
            Err(error) => self.events.push_back(Event::Failed { error: error.to_string() }),
        }
    }

    fn world_event(&mut self, event: WorldEvent) {
        match event {
            WorldEvent::Host(FromHost::Started { generation, builds }, _) => self.loaded(generation, &builds, None),
            WorldEvent::Host(FromHost::Reloaded { report, since_live, builds }, now) => {
                self.loaded(report.generation, &builds, Some((report, now.checked_sub(since_live).unwrap_or(now))));
            }
            WorldEvent::Host(FromHost::Refused { error, lacks_type }, _) => {
                if let Some(candidate) = self.loading.take() {
                    self.lives.note(BuildLife::Refused(candidate.build), self.now());
                    self.throw_away(candidate.build, &candidate.origin);
                }
                let host_is_older = self.host.as_ref().is_some_and(|host| host.is_stale);
                let event = Event::Refused { error, lacks_type, host_is_older, runs: self.running.is_some() };
                self.events.push_back(event);
                self.load_next();
            }
            WorldEvent::Host(FromHost::Saved, _) => self.left(true),
            WorldEvent::Host(FromHost::Status(_), _) => {
                if self.hang.take().is_some() {
                    self.events.push_back(Event::HangOver);
                }
            }
            WorldEvent::Host(FromHost::Hang { text, of }, _) => {
                if of == HangOf::Call {
                    self.hang = Some(text.clone());
                }
                self.events.push_back(Event::Hang { text, of });
                if of == HangOf::Call && self.next.is_some() {
                    self.kill(Killing::Hang);
                }
            }
            WorldEvent::Unreadable(error) => {
                let error = format!("the host sent a message that this tool cannot parse: {error}");
                self.events.push_back(Event::Failed { error });
                self.kill(Killing::Unreadable);
            }
            WorldEvent::Done => {
                // Ends the session, because the host has exited normally, for example after its window was closed.
                self.events.extend([Event::HostDone, Event::Over { failed: false }]);
            }
            WorldEvent::Ended(end) => self.world_ended(end),
            WorldEvent::Populated(population) => self.events.push_back(Event::Populated(population)),
            other => self.events.push_back(Event::World(other)),
        }
    }
}

/// Minimum interval between updates of the status line.
pub(crate) const GLANCE: Duration = Duration::from_millis(200);

fn artifact_version(artifact: &Artifact) -> FileVersion {
    if artifact.path.is_dir() {
        // Also hashes the contents, because a program may restore a file of equal length together with its older time.
        let mut hasher = DefaultHasher::new();
        for file in scripts::files_with_manifest(&artifact.path) {
            (file_version(&file), plain_file::read(&file, scripts::LARGEST).ok()).hash(&mut hasher);
        }
        return (artifact.path.clone(), None, hasher.finish());
    }
    file_version(&artifact.path)
}

fn file_version(path: &Path) -> FileVersion {
    let file = fs::metadata(path).ok();
    let modified = file.as_ref().and_then(|file| file.modified().ok());
    (path.to_owned(), modified, file.map_or(0, |file| file.len()))
}
