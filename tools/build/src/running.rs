//! Running cargo processes: start, output, end and cancellation. The dev loop cancels a build as soon as the sources
//! change again, because the library would be stale.

use crate::error::BuildError;
use crate::report::{BuildOutcome, Ending, Report};
use crate::request::BuildRequest;
use cargo_metadata::Message;
use crossbeam_channel::{Receiver, bounded};
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Build in progress. Dropping it cancels the build, which would otherwise only hold cargo's lock.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{BuildRequest, spawn};
///
/// # let saved_again = || false;
/// let mut build = spawn(&BuildRequest::new(Path::new("plugins/Cargo.toml")))?;
/// if saved_again() {
///     build.cancel();
/// }
/// let outcome = build.wait()?;
/// println!("{} libraries", outcome.artifacts.len());
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug)]
pub struct RunningBuild {
    cargo: Child,
    messages: Option<JoinHandle<(Report, f64)>>,
    stderr: Option<JoinHandle<String>>,
    finished: Receiver<()>,
    compiled: Arc<AtomicUsize>,
    what: String,
    command: String,
    makes_programs: bool,
    canceled: bool,
}

/// Builds and waits for the libraries.
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
    spawn(request)?.wait()
}

/// Starts a build without waiting for it.
pub fn spawn(request: &BuildRequest<'_>) -> Result<RunningBuild, BuildError> {
    let (what, command_line) = (request.what(), request.command_line());
    let mut command = request.cargo();
    command.args(request.build_args());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    tracing::debug!(command = %command_line, "building");

    let started = Instant::now();
    let mut cargo = command.spawn().map_err(|source| not_run(&command, source))?;
    let (stdout, stderr) = (cargo.stdout.take(), cargo.stderr.take());
    let (alive, finished) = bounded(0);
    let compiled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&compiled);
    let messages = thread::spawn(move || {
        let _alive = alive; // Dropped at the end, which is what `finished` sees.
        let report = stdout.map(|stdout| read_messages(stdout, &count)).unwrap_or_default();
        (report, started.elapsed().as_secs_f64() * 1000.0)
    });
    let stderr = thread::spawn(move || stderr.map(read_stderr).unwrap_or_default());
    Ok(RunningBuild {
        cargo,
        messages: Some(messages),
        stderr: Some(stderr),
        finished,
        compiled,
        what,
        command: command_line,
        makes_programs: request.makes_programs(),
        canceled: false,
    })
}

impl RunningBuild {
    /// Returns a channel that disconnects at the end of the build, for `select!` together with source changes. It carries no messages.
    pub fn finished(&self) -> &Receiver<()> {
        &self.finished
    }

    /// Returns the number of crates compiled so far.
    pub fn compiled(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }

    /// Waits for the end of the build and returns its result. Seals the libraries, so that a host detects later bit flips.
    pub fn wait(mut self) -> Result<BuildOutcome, BuildError> {
        let (report, millis) = joined(self.messages.take());
        let stderr = joined(self.stderr.take());
        let command = std::mem::take(&mut self.command);
        let success = match self.cargo.wait() {
            _ if self.canceled => return Err(BuildError::Canceled { command }),
            Ok(status) => status.success(),
            Err(source) => return Err(BuildError::CargoNotRun { program: command, source }),
        };
        let what = std::mem::take(&mut self.what);
        let outcome = match report.conclude(Ending { success, stderr, millis }, what, command) {
            Err(BuildError::NoLibrary { what }) if self.makes_programs => return Err(BuildError::NoProgram { what }),
            outcome => outcome?,
        };
        if self.makes_programs {
            return Ok(outcome);
        }
        for artifact in &outcome.artifacts {
            let sealing = |source| BuildError::Store { doing: "seal", path: artifact.path.clone(), source };
            alcedo_sys::seal_file(&artifact.path).map_err(sealing)?;
        }
        Ok(outcome)
    }

    /// Cancels the build, including the compilers it started. Has no effect after the end of the build.
    pub fn cancel(&mut self) {
        // The id of an ended cargo is not reused until it is waited for.
        if matches!(self.cargo.try_wait(), Ok(None)) {
            self.canceled = true;
            end(&mut self.cargo);
            let _ = self.cargo.wait();
        }
    }
}

impl Drop for RunningBuild {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Returns the error for a cargo that could not be started.
pub(crate) fn not_run(command: &Command, source: io::Error) -> BuildError {
    BuildError::CargoNotRun { program: command.get_program().display().to_string(), source }
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
            // Skips lines that are not UTF-8, printed by macros; reading on keeps cargo from blocking.
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

/// Joins a reader thread; resumes its panic, if any.
fn joined<T>(reader: Option<JoinHandle<T>>) -> T {
    let reader = reader.expect("`wait` consumes the build, so each reader is joined once");
    reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Starts cargo as the leader of a process group, so that its compilers can be killed with it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

/// On other platforms cargo ties its compilers to itself.
#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Kills the process group: a compiler that outlives its cargo would overwrite the library of the next build. Uses the
/// `kill` program, because the standard library has no such call and the system call needs `unsafe`.
fn end(cargo: &mut Child) {
    let group = format!("-{}", cargo.id());
    let kill = |group: &str| {
        let mut kill = Command::new("kill");
        kill.args(["-KILL", "--", group]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        kill.status().is_ok_and(|status| status.success())
    };
    if cfg!(not(unix)) || !kill(&group) {
        let _ = cargo.kill();
    }
}
