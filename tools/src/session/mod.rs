//! The way from a saved file to live code, as `dev` and `demo` go it: a world that ticks, a watch on the sources, a
//! build that is canceled when it is stale, and a reload as soon as the build has ended. Nothing on this way sleeps:
//! the loop stands in one `select!` over sources, build, wishes and the next tick.
//!
//! It tells [`Event`]s and says nothing itself.

mod history;
mod host;
mod job;
mod pace;
mod targets;

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use alcedo_build::{Artifact, BuildError, Due, Settle, SourceEvent, SourceWatch};
use alcedo_runtime::{Reload, Runtime};
use crossbeam::channel::{Receiver, RecvError, never};
use crossbeam::select;

use crate::command::Command;
use crate::error::Error;
use crate::guard::again::Life;
use crate::input::Heard;
use history::{BuildNumber, History};
use host::Host;
use job::{Advance, Cause, Ended, Job, Next};
use pace::Pace;
use targets::Target;

pub(crate) use history::NoSuchGeneration;
pub(crate) use host::{HostOptions, Population};
pub(crate) use targets::BuildOptions;

/// How a session begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    /// Where its builds are to be kept for whoever looks after it; else they go with it.
    pub(crate) builds: Option<PathBuf>,
    /// It goes on after a crash, and with this build, if there is a good one. What the sources are now is not built
    /// before somebody wishes so: it may be what crashed.
    pub(crate) after_crash: Option<Option<u64>>,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A build was begun, after these files had changed.
    Building(Vec<PathBuf>),
    /// The sources changed again, so the build that ran is no longer wanted.
    Canceled,
    /// All is built.
    Built {
        /// Milliseconds of cargo.
        millis: f64,
        /// What the compiler warned of, as it says it.
        warnings: String,
    },
    /// It does not build. The code that runs goes on.
    NotBuilt(BuildError),
    /// The build made what runs already.
    Unchanged,
    /// Files changed, which is only noted while paused.
    Noted(Vec<PathBuf>),
    /// The first generation is live.
    Started {
        /// Its number.
        generation: u64,
        /// Milliseconds of cargo.
        build_ms: f64,
    },
    /// An earlier build is live after a crash; none if there was no good one.
    Restarted(Option<u64>),
    /// It could not be loaded; there is no plugin code yet.
    NotStarted(Error),
    /// A reload came to its end.
    Reloaded(Box<Live>),
    /// Objects were born.
    Populated(Population),
    /// Something else failed, and the world goes on.
    Failed(Error),
}

/// A reload, with what came before it.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    /// What the host tells.
    pub(crate) report: Reload,
    /// From the first change of a file to the moment the new code was live; none if it never was, or nobody saved.
    pub(crate) edit_to_live_ms: Option<f64>,
    /// Milliseconds of cargo; none when the libraries were there already.
    pub(crate) build_ms: Option<f64>,
    /// The earlier generation whose code this is.
    pub(crate) code_of: Option<u64>,
}

/// Why [`Session::wait`] returned.
#[derive(Debug)]
pub(crate) enum Step {
    /// Something happened.
    Event(Event),
    /// Somebody wants something.
    Heard(Heard),
    /// The world made a tick, and stands still until the next call.
    Tick,
}

/// When sources are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// When they change.
    Automatic,
    /// When somebody asks for it.
    Paused,
}

/// How things are.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) generation: u64,
    pub(crate) objects: usize,
    pub(crate) ticks: usize,
    pub(crate) mode: Mode,
    pub(crate) building: bool,
    pub(crate) running: bool,
}

/// What tells one library file from the next.
type Stamp = (PathBuf, Option<SystemTime>, u64);

/// A development host and its plugins' sources. It belongs to the thread that made it, the game thread.
pub(crate) struct Session {
    dirs: Vec<PathBuf>,
    options: BuildOptions,
    targets: Vec<Target>,
    /// Targets that changed since they were built.
    stale: BTreeSet<usize>,
    watch: SourceWatch,
    settle: Settle,
    /// The first change that is not built yet.
    edited: Option<Duration>,
    mode: Mode,
    job: Option<Job>,
    host: Host,
    history: History,
    /// The libraries whose code is live, as they came from cargo.
    loaded: Vec<Stamp>,
    started: Instant,
    pace: Pace,
    events: VecDeque<Event>,
}

impl Session {
    /// Makes the world, watches the plugins in `dirs` and begins their first build.
    ///
    /// # Errors
    /// A folder without plugins, or anything the system or the host refuses.
    pub(crate) fn open(
        dirs: Vec<PathBuf>,
        options: BuildOptions,
        world: &HostOptions,
        beginning: &Beginning,
    ) -> Result<Self, Error> {
        let targets = targets::find(&dirs)?;
        let watch = SourceWatch::new(&targets::sources(&targets))?;
        let mut session = Self {
            dirs,
            options,
            stale: (0..targets.len()).collect(),
            targets,
            watch,
            settle: Settle::default(),
            edited: None,
            mode: Mode::Automatic,
            job: None,
            host: Host::new(world)?,
            history: beginning.builds.as_deref().map_or_else(History::new, |dir| Ok(History::kept_in(dir)))?,
            loaded: Vec::new(),
            started: Instant::now(),
            pace: Pace::default(),
            events: VecDeque::new(),
        };
        match beginning.after_crash {
            None => session.build(Cause::Start, Vec::new()),
            Some(build) => session.go_on_with(build),
        }
        Ok(session)
    }

    /// Loads a build of an earlier session, and leaves the sources alone.
    fn go_on_with(&mut self, build: Option<u64>) {
        let Some((build, libraries)) = build.and_then(|build| self.history.earlier(build)) else {
            return self.events.push_back(Event::Restarted(None));
        };
        if self.load(build, &libraries) {
            let generation = self.runtime().generation();
            self.events.push_back(Event::Restarted(Some(generation)));
            self.populate();
        }
    }

    /// Runs the world until something happens, somebody wants something, or a tick was made.
    pub(crate) fn wait(&mut self, wishes: &Receiver<Heard>) -> Step {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Step::Event(event);
            }
            let settled = match self.settle.due(self.watch.now()) {
                Due::Ready(_) => {
                    self.sources_changed();
                    continue;
                }
                Due::Wait(rest) => rest,
                Due::Nothing => Duration::MAX,
            };
            let patience = settled.min(self.pace.rest(self.started.elapsed()));
            let built = self.job.as_ref().map_or_else(never, |job| job.finished().clone());
            // Ready channels go first, so a world that is too slow for its ticks still hears.
            select! {
                recv(built) -> _ => self.cargo_ended(),
                recv(self.watch.receiver()) -> event => self.source_event(event),
                recv(wishes) -> heard => return Step::Heard(heard.unwrap_or(Ok(Command::Quit))),
                default(patience) => {
                    let begun = self.started.elapsed();
                    if self.pace.rest(begun).is_zero() {
                        self.tick();
                        let ended = self.started.elapsed();
                        self.pace.ticked(ended, ended - begun);
                        return Step::Tick;
                    }
                }
            }
        }
    }

    /// Builds and reloads now, whatever the mode and even if nothing has changed.
    pub(crate) fn reload_by_hand(&mut self) {
        self.stale = (0..self.targets.len()).collect();
        self.edited = None;
        self.settle.take();
        self.build(Cause::Hand, Vec::new());
    }

    /// Changes the mode. What changed while paused is built as soon as it is automatic again.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        if mode == Mode::Automatic && !self.stale.is_empty() && self.job.is_none() {
            self.build(Cause::Hand, Vec::new());
        }
    }

    /// Runs the code of an earlier generation again, as a new generation.
    pub(crate) fn back(&mut self, generation: u64) {
        match self.history.find(generation) {
            Ok((build, libraries)) => {
                self.swap(build, &libraries, |_| Origin { code_of: Some(generation), ..Origin::default() });
                // Whatever cargo has now, it is not what runs.
                self.loaded.clear();
            }
            Err(error) => self.events.push_back(Event::Failed(error.into())),
        }
    }

    pub(crate) fn status(&mut self) -> Status {
        Status {
            generation: self.runtime().generation(),
            objects: self.runtime().objects().len(),
            ticks: self.pace.rate(self.started.elapsed()),
            mode: self.mode,
            building: self.job.is_some(),
            running: self.host.is_running(),
        }
    }

    /// One tick now, besides those that are due.
    pub(crate) fn tick(&self) {
        self.host.tick();
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.host.runtime()
    }

    /// Ends the build and the world. Gives what could not be ended.
    pub(crate) fn shutdown(self) -> Vec<String> {
        drop(self.job);
        self.host.shutdown()
    }

    fn source_event(&mut self, event: Result<SourceEvent, RecvError>) {
        // The watch lives as long as the session, so there is an event.
        if let Ok(event) = event {
            self.edited = Some(self.edited.map_or(event.at, |first| first.min(event.at)));
            self.settle.note(event.at, &event.path);
        }
    }

    fn sources_changed(&mut self) {
        let changed = self.settle.take();
        if changed.iter().any(|path| path.file_name().is_some_and(|name| name == "Cargo.toml")) {
            self.find_again();
        }
        self.stale.extend(targets::affected(&self.targets, &changed));
        let edited = self.edited.take().unwrap_or_else(|| self.watch.now());
        match self.mode {
            Mode::Automatic => self.build(Cause::Edit(edited), changed),
            Mode::Paused => self.events.push_back(Event::Noted(changed)),
        }
    }

    /// A manifest may name other sources now. If it cannot be read, the build will say so in cargo's own words.
    fn find_again(&mut self) {
        let Ok(mut targets) = targets::find(&self.dirs) else { return };
        for (new, old) in targets.iter_mut().zip(&self.targets) {
            new.artifacts.clone_from(&old.artifacts);
        }
        let (before, now) = (targets::sources(&self.targets), targets::sources(&targets));
        self.targets = targets;
        if before != now {
            match SourceWatch::new(&now) {
                // Times of the old watch mean nothing on the clock of the new one.
                Ok(watch) => (self.watch, self.settle, self.edited) = (watch, Settle::default(), None),
                Err(error) => self.events.push_back(Event::Failed(error.into())),
            }
        }
    }

    /// Begins to build what is stale. A build that runs is canceled first: its libraries would be stale, too.
    fn build(&mut self, cause: Cause, changed: Vec<PathBuf>) {
        if self.job.take().is_some() {
            self.events.push_back(Event::Canceled);
        }
        match Job::start(cause, &self.stale, &self.targets, &self.options) {
            Ok(None) => {}
            Ok(Some(job)) => {
                self.job = Some(job);
                self.events.push_back(Event::Building(changed));
            }
            Err(error) => self.events.push_back(Event::NotBuilt(error)),
        }
    }

    fn cargo_ended(&mut self) {
        let Some(job) = self.job.take() else { return };
        match job.advance(&self.targets, &self.options) {
            Advance::Failed(error) => self.events.push_back(Event::NotBuilt(error)),
            Advance::Built { target, outcome, next } => {
                self.stale.remove(&target);
                self.targets[target].artifacts = outcome.artifacts;
                match next {
                    Next::Running(job) => self.job = Some(*job),
                    Next::Ended(ended) => self.all_built(ended),
                }
            }
        }
    }

    fn all_built(&mut self, ended: Ended) {
        let Ended { cause, millis, warnings } = ended;
        self.events.push_back(Event::Built { millis, warnings });
        let artifacts: Vec<_> = self.targets.iter().flat_map(|target| target.artifacts.clone()).collect();
        let stamps: Vec<_> = artifacts.iter().map(stamp).collect();
        if cause != Cause::Hand && stamps == self.loaded {
            self.events.push_back(Event::Unchanged);
            return;
        }
        let (build, libraries) = match self.history.keep(&artifacts) {
            Ok(kept) => kept,
            Err(error) => return self.events.push_back(Event::Failed(error)),
        };
        if !self.host.is_running() {
            return self.start(build, &libraries, stamps, millis);
        }
        let edited = if let Cause::Edit(at) = cause { Some(at) } else { None };
        let committed = self.swap(build, &libraries, |live| Origin {
            edit_to_live: edited.map(|at| live.saturating_sub(at)),
            build_ms: Some(millis),
            code_of: None,
        });
        if committed {
            self.loaded = stamps;
        } else {
            self.history.discard(build);
        }
    }

    fn start(&mut self, build: BuildNumber, libraries: &[PathBuf], stamps: Vec<Stamp>, build_ms: f64) {
        if self.load(build, libraries) {
            self.loaded = stamps;
            self.events.push_back(Event::Started { generation: self.runtime().generation(), build_ms });
            self.populate();
        } else {
            self.history.discard(build);
        }
    }

    /// Loads the first generation; if it is refused, tells so.
    fn load(&mut self, build: BuildNumber, libraries: &[PathBuf]) -> bool {
        self.history.note(Life::Tried, build);
        match self.host.start(libraries) {
            Ok(()) => {
                self.history.note(Life::Live, build);
                self.history.bind(self.runtime().generation(), build);
                true
            }
            Err(error) => {
                self.history.note(Life::Refused, build);
                self.events.push_back(Event::NotStarted(error));
                false
            }
        }
    }

    /// Reloads, and tells how it went. `origin` is given the moment the new code was live, on the clock of the watch.
    fn swap(&mut self, build: BuildNumber, libraries: &[PathBuf], origin: impl FnOnce(Duration) -> Origin) -> bool {
        self.history.note(Life::Tried, build);
        let (report, since_live) = match self.host.reload(libraries) {
            Ok(ended) => ended,
            Err(error) => {
                self.history.note(Life::Refused, build);
                self.events.push_back(Event::Failed(error));
                return false;
            }
        };
        let Origin { edit_to_live, build_ms, code_of } = origin(self.watch.now().saturating_sub(since_live));
        let committed = report.is_committed();
        self.history.note(if committed { Life::Live } else { Life::Refused }, build);
        if committed {
            self.history.bind(report.generation, build);
        }
        let edit_to_live_ms = edit_to_live.filter(|_| committed).map(|time| time.as_secs_f64() * 1000.0);
        let live = Live { report, edit_to_live_ms, build_ms, code_of };
        self.events.push_back(Event::Reloaded(Box::new(live)));
        self.populate();
        committed
    }

    fn populate(&mut self) {
        self.events.extend(self.host.populate().into_iter().map(Event::Populated));
    }
}

/// Where the code of a reload came from.
#[derive(Default)]
struct Origin {
    edit_to_live: Option<Duration>,
    build_ms: Option<f64>,
    code_of: Option<u64>,
}

fn stamp(artifact: &Artifact) -> Stamp {
    let file = fs::metadata(&artifact.path).ok();
    let modified = file.as_ref().and_then(|file| file.modified().ok());
    (artifact.path.clone(), modified, file.map_or(0, |file| file.len()))
}
