//! Starts builds, reads their output, waits for their end, and cancels them. This file runs cargo. `direct.rs` runs recorded compiler
//! calls.

use crate::call::{self, CompilerCall};
use crate::dep_info;
use crate::error::{BuildError, failed};
use crate::named_files::full_path;
use crate::processes::{Processes, Started};
use crate::reason::CargoReason;
use crate::recorder::{Recorder, list, read_variables};
use crate::report::{BuildMethod, BuildOutcome, Report};
use crate::request::BuildRequest;
use cargo_metadata::Message;
use crossbeam_channel::{Receiver, bounded};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Build in progress. Dropping this value cancels the build, so that cargo's lock is released.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{BuildRequest, Builder};
///
/// # let saved_again = || false;
/// let mut build = Builder::new().spawn(&BuildRequest::new(Path::new("plugins/Cargo.toml")))?;
/// if saved_again() {
///     build.cancel();
/// }
/// let outcome = build.wait()?;
/// println!("{} libraries", outcome.artifacts.len());
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug)]
pub struct RunningBuild {
    worker: Option<JoinHandle<Result<BuildOutcome, BuildError>>>,
    processes: Arc<Processes>,
    finished: Receiver<()>,
}

/// Builds a request with cargo, and waits for the libraries. Cargo belongs to the process group of this process, so Ctrl-C also ends cargo.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{BuildError, BuildRequest, build};
///
/// match build(&BuildRequest::new(Path::new("plugins/Cargo.toml"))) {
///     Ok(outcome) => println!("built in {} ms", outcome.millis),
///     Err(BuildError::DoesNotCompile { rendered, .. }) => eprintln!("{rendered}"),
///     Err(other) => eprintln!("{other}"),
/// }
/// ```
pub fn build(request: &BuildRequest<'_>) -> Result<BuildOutcome, BuildError> {
    let processes = Processes::in_this_group();
    Cargo::new(request, None).start(&processes, CargoReason::Requested)?.conclude(&processes)
}

impl RunningBuild {
    /// Starts a build with cargo without waiting for the libraries. [`Builder::spawn`](crate::Builder::spawn) starts repeated builds, which
    /// are faster.
    ///
    /// # Errors
    /// Returns [`BuildError::CargoNotRun`].
    pub fn start(request: &BuildRequest<'_>) -> Result<Self, BuildError> {
        Cargo::new(request, None).spawn(CargoReason::Requested)
    }

    /// Completes a build whose first processes have been started, by calling `rest` in a new thread.
    pub(crate) fn of(
        processes: Processes,
        rest: impl FnOnce(&Processes) -> Result<BuildOutcome, BuildError> + Send + 'static,
    ) -> Self {
        let (alive, finished) = bounded(0);
        let processes = Arc::new(processes);
        let shared = Arc::clone(&processes);
        let worker = thread::spawn(move || {
            let _alive = alive; // Dropped at the end of the thread, which disconnects `finished`.
            rest(&shared)
        });
        Self { worker: Some(worker), processes, finished }
    }

    /// Returns a channel that disconnects at the end of the build, for `select!` together with source changes. The channel carries no
    /// messages.
    pub fn finished(&self) -> &Receiver<()> {
        &self.finished
    }

    /// Returns the number of crates compiled so far.
    pub fn compiled(&self) -> usize {
        self.processes.compiled.load(Ordering::Relaxed)
    }

    /// Waits for the end of the build and returns its result. Each library has a seal, so that a host detects later bit flips.
    pub fn wait(mut self) -> Result<BuildOutcome, BuildError> {
        let worker = self.worker.take().expect("`wait` consumes the build, so its thread is joined once");
        joined(worker)
    }

    /// Cancels the build, and kills the compilers that the build has started. Has no effect after the end of the build.
    pub fn cancel(&mut self) {
        self.processes.cancel();
    }
}

impl Drop for RunningBuild {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Cargo build without borrowed data, so that another thread can complete the build.
#[derive(Debug)]
pub(crate) struct Cargo {
    command: Command,
    /// The command as a user would type it.
    pub(crate) command_line: String,
    what: String,
    makes_programs: bool,
    /// Records the compiler calls. `None` if no [`Builder`](crate::Builder) started the build.
    recorder: Option<Recorder>,
}

/// Build by a cargo process that has been started.
#[derive(Debug)]
pub(crate) struct StartedCargo {
    cargo: Cargo,
    process: Started,
    started: Instant,
    reason: CargoReason,
}

impl Cargo {
    pub(crate) fn new(request: &BuildRequest<'_>, recorder: Option<Recorder>) -> Self {
        let mut command = request.cargo();
        command.args(request.build_args());
        if recorder.is_some() {
            command.arg("-vv");
        }
        Self {
            command,
            command_line: request.command_line(),
            what: request.what(),
            makes_programs: request.programs,
            recorder,
        }
    }

    /// Starts cargo, and completes the build in a thread.
    pub(crate) fn spawn(self, reason: CargoReason) -> Result<RunningBuild, BuildError> {
        let processes = Processes::default();
        let cargo = self.start(&processes, reason)?;
        Ok(RunningBuild::of(processes, move |processes| cargo.conclude(processes)))
    }

    pub(crate) fn start(mut self, processes: &Processes, reason: CargoReason) -> Result<StartedCargo, BuildError> {
        tracing::debug!(command = %self.command_line, %reason, "building");
        let started = Instant::now();
        let process = processes.start(&mut self.command, Stdio::piped(), &self.command_line)?;
        Ok(StartedCargo { cargo: self, process, started, reason })
    }
}

impl StartedCargo {
    /// Reads cargo's messages until cargo exits, and seals the libraries.
    pub(crate) fn conclude(self, processes: &Processes) -> Result<BuildOutcome, BuildError> {
        let Self { cargo, process, started, reason } = self;
        let Cargo { command, command_line, what, makes_programs, recorder } = cargo;
        let Started { number, stdout, stderr } = process;
        let stderr = thread::spawn(move || stderr.map(read_stderr).unwrap_or_default());
        let mut report = stdout.map(|stdout| read_messages(stdout, &processes.compiled)).unwrap_or_default();
        let millis = started.elapsed().as_secs_f64() * 1000.0;
        let mut stderr = joined(stderr);
        let success = match processes.wait(number) {
            Ok(Some(status)) => status.success(),
            Ok(None) => return Err(BuildError::Canceled { command: command_line }),
            Err(source) => return Err(crate::processes::not_run(&command, source)),
        };
        let mut calls = Vec::new();
        if recorder.is_some() {
            (calls, stderr) = call::split(&stderr);
        }
        if !success {
            report.inputs.extend(calls.iter().filter(|call| call.is_cdylib()).flat_map(listed_sources));
        }
        let units = std::mem::take(&mut report.units);
        // A recorder compares all variables.
        let variables = if recorder.is_none() { read_variables(&units) } else { None };
        let diagnostics = report.diagnostics.clone();
        let (artifacts, warnings) = match report.conclude((!success).then_some(stderr), what, command_line) {
            Err(BuildError::NoLibrary { what }) if makes_programs => return Err(BuildError::NoProgram { what }),
            concluded => concluded?,
        };
        let outcome = BuildOutcome { artifacts, warnings, millis, method: BuildMethod::Cargo(reason), variables };
        if makes_programs {
            return Ok(outcome);
        }
        for artifact in &outcome.artifacts {
            alcedo_sys::seal_file(&artifact.path).map_err(failed("seal", &artifact.path))?;
        }
        if let Some(recorder) = recorder {
            recorder.note(processes, units, calls, diagnostics);
        }
        Ok(outcome)
    }
}

/// Returns the sources that the dependency file of a compiler call lists. After a failed call, this file exists if the compiler has read
/// all sources.
fn listed_sources(call: &CompilerCall) -> Vec<PathBuf> {
    let sources = list(call).and_then(|list| dep_info::read(&list).ok()).unwrap_or_default();
    let Some(package) = call.env("CARGO_MANIFEST_DIR") else { return Vec::new() };
    sources.iter().filter_map(|source| full_path(source, Path::new(package))).collect()
}

fn read_messages(stdout: impl Read, compiled: &AtomicUsize) -> Report {
    let mut report = Report::default();
    for message in Message::parse_stream(BufReader::new(stdout)) {
        match message {
            Ok(message) => {
                if matches!(&message, Message::CompilerArtifact(artifact) if !artifact.fresh) {
                    compiled.fetch_add(1, Ordering::Relaxed);
                }
                report.note(message);
            }
            // Skips lines that are not UTF-8, which macros may print. Continues to read, so that cargo does not block on a full pipe.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(_) => break,
        }
    }
    report
}

fn read_stderr(stderr: impl Read) -> String {
    let mut all = String::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        tracing::debug!("cargo: {line}");
        all.push_str(&line);
        all.push('\n');
    }
    all.truncate(all.trim_end().len());
    all
}

/// Joins a thread. If the thread has panicked, resumes the panic.
fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
