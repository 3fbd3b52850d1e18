//! Builds without cargo, by repeating cargo's compiler calls. The compilers write to a separate folder, and only the finished library
//! replaces cargo's library. All other files in cargo's folders stay unchanged, so a later run of cargo still detects sources that are
//! newer than its last build.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use cargo_metadata::diagnostic::Diagnostic;
use serde_json::Value;

use crate::dep_info;
use crate::error::{BuildError, failed};
use crate::link;
use crate::named_files::named_files;
use crate::processes::{Processes, Started};
use crate::record::Record;
use crate::recorder::{Recorder, dep_file};
use crate::report::{Artifact, BuildMethod, BuildOutcome, Diagnostics};

/// Name of the folder for the outputs of compilers, next to cargo's libraries.
const FOLDER: &str = "alcedo-direct";

/// Build that repeats recorded compiler calls, and has not been started.
#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) recorder: Recorder,
    /// The cargo command that would produce the same result.
    pub(crate) command_line: String,
    pub(crate) color: bool,
    pub(crate) linker: Option<PathBuf>,
    /// Diagnostics of the last build.
    pub(crate) diagnostics: Diagnostics,
    /// Libraries of all plugins, including those that are up to date.
    pub(crate) artifacts: Vec<Artifact>,
    /// Plugins to compile.
    pub(crate) records: Vec<Record>,
    /// Lock files of cargo, which remain locked until the end of the build.
    pub(crate) locks: Vec<File>,
}

#[derive(Debug)]
pub(crate) struct StartedDirect {
    direct: Direct,
    started: Instant,
    compilers: Vec<(Started, PathBuf)>,
}

impl Direct {
    /// Starts the compilers of all changed plugins in parallel, without a limit, because usually only one plugin has changed. If a compiler
    /// fails to start, the compilers that have started keep running.
    pub(crate) fn start(mut self, processes: &Processes) -> Result<StartedDirect, BuildError> {
        tracing::debug!(command = %self.command_line, "building without cargo");
        let started = Instant::now();
        processes.hold(std::mem::take(&mut self.locks));
        let mut compilers = Vec::new();
        for record in &self.records {
            let dir = folder(record);
            let output = dir.join(record.library.file_name().unwrap_or_default());
            fs::create_dir_all(&dir).map_err(failed("create", &dir))?;
            // Removes the output of a build that was canceled.
            let _ = fs::remove_file(output);
            let mut command = self.command(record, &dir);
            // Discards the standard output, to which macros may print.
            compilers.push((processes.start(&mut command, Stdio::null(), &self.command_line)?, dir));
        }
        Ok(StartedDirect { direct: self, started, compilers })
    }

    fn command(&self, record: &Record, dir: &Path) -> Command {
        let mut command = Command::new(&record.call.program);
        command.args(record.call.redirected(dir, self.color)).current_dir(&record.dir);
        command.env_clear().envs(&self.recorder.environment);
        command.envs(record.call.envs.iter().map(|(name, value)| (name, value)));
        if let Some(linker) = &self.linker {
            link::redirect(&mut command, linker, record, dir);
        }
        command
    }
}

/// Returns the output folder for the compiler call of a plugin.
fn folder(record: &Record) -> PathBuf {
    let name = record.call.value("--crate-name").unwrap_or_default();
    // Includes the metadata hash, which differs for each set of features and for each profile.
    let id = record.call.codegen("metadata").unwrap_or_default();
    record.library.with_file_name(FOLDER).join(format!("{name}-{id}"))
}

impl StartedDirect {
    /// Waits for the compilers, and installs their libraries. Returns `None` if cargo must build instead. In this case, the target folder
    /// remains locked.
    pub(crate) fn conclude(self, processes: &Processes) -> Result<Option<BuildOutcome>, BuildError> {
        let Self { direct, started, compilers } = self;
        let Direct { recorder, command_line, mut diagnostics, artifacts, records, .. } = direct;
        let canceled = || BuildError::Canceled { command: command_line.clone() };
        let (mut compile, mut linking) = (0.0_f64, (None, None));
        let (mut linked, mut inputs) = (Vec::new(), Vec::new());
        for (record, (compiler, dir)) in records.into_iter().zip(compilers) {
            let Started { number, stderr, .. } = compiler;
            let read = stderr.map(|stderr| read(stderr, &record.package_id)).unwrap_or_default();
            let status = match processes.wait(number) {
                Ok(Some(status)) => status,
                Ok(None) => return Err(canceled()),
                Err(_) => return Ok(None),
            };
            let millis = started.elapsed().as_secs_f64() * 1000.0;
            if millis > compile {
                (compile, linking) = (millis, link::read_note(&dir, read.linked));
            }
            let is_built = status.success();
            let dep_file = dep_file(&record.call, &dir).unwrap_or_default();
            let output = dir.join(record.library.file_name().unwrap_or_default());
            let is_of_sources = read.diagnostics.errors && !read.diagnostics.errors_elsewhere;
            if is_built && !output.is_file() || !is_built && !is_of_sources {
                tracing::debug!("the compiler alone failed: {}", read.diagnostics.text());
                return Ok(None);
            }
            if !is_built {
                let sources = read.named.into_iter().chain(dep_info::read(&dep_file).unwrap_or_default());
                inputs.extend(sources.map(|source| record.dir.join(source)));
            }
            diagnostics.replace(&record.package_id, read.diagnostics.clone());
            let (library, dep_file) = (&record.library, is_built.then_some(&*dep_file));
            if !recorder.note_direct(processes, library, dep_file, &read.diagnostics, || install(&output, library))? {
                // Reached if the plugin has no record, because the build was canceled, or because another build of the request has removed
                // the record.
                return if processes.is_canceled() { Err(canceled()) } else { Ok(None) };
            }
            if is_built {
                processes.compiled.fetch_add(1, Ordering::Relaxed);
            }
            linked.push(dir);
        }
        processes.unlock();
        link::prepare(linked);
        if diagnostics.errors {
            return Err(BuildError::DoesNotCompile { rendered: diagnostics.text(), command: command_line, inputs });
        }
        let millis = started.elapsed().as_secs_f64() * 1000.0;
        let (link, slow_link) = linking;
        let method = BuildMethod::Direct { compile, link, slow_link };
        let warnings = diagnostics.text();
        Ok(Some(BuildOutcome { artifacts, warnings, millis, method, variables: None }))
    }
}

/// Seals a library, and replaces the older library in a single step.
fn install(output: &Path, library: &Path) -> Result<(), BuildError> {
    alcedo_sys::seal_file(output).map_err(failed("seal", library))?;
    // Renames the output. With a hard link instead, removing the output would change the library's stamp.
    fs::rename(output, library).or_else(|_| copy(output, library)).map_err(failed("copy", library))
}

/// Copies a library between file systems, and replaces the older library in a single step.
fn copy(output: &Path, library: &Path) -> io::Result<()> {
    let new = library.with_extension("new");
    fs::copy(output, &new)?;
    fs::rename(&new, library)
}

/// Output of a compiler.
#[derive(Debug, Default)]
struct Read {
    diagnostics: Diagnostics,
    /// Files that are named in compiler errors.
    named: Vec<PathBuf>,
    /// Time at which the link ended.
    linked: Option<SystemTime>,
}

/// Reads the messages of a compiler until the compiler exits. Skips all other lines, because macros have printed these lines.
fn read(stderr: ChildStderr, package: &str) -> Read {
    let mut read = Read::default();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        if message["$message_type"] == "artifact" {
            if message["emit"] == "link" {
                read.linked = Some(SystemTime::now());
            }
        } else if let Ok(diagnostic) = serde_json::from_value::<Diagnostic>(message) {
            read.named.extend(named_files(&diagnostic));
            read.diagnostics.note(package, diagnostic);
        }
    }
    read
}
