//! The crash guard: a process that supervises a host, and reports the location of a crash. The guard shares the host's terminal and prints
//! nothing before a crash. `dump.rs` reads the files that the host wrote during the crash, and `trace.rs` converts them to a backtrace.
//! `unmapped.rs` finds the unmapped images at an address, and `calls.rs` orders the frames for output. `end.rs` formats the report,
//! and `panics.rs` reports panics while the host runs.

mod calls;
mod dump;
mod end;
mod names;
mod panics;
mod trace;
mod unmapped;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use alcedo_runtime::crash_guard::{BACKTRACE, FOLDER, keep_copies};
use alcedo_runtime::development::PrivateFolder;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::error::{Error, file, terminal};
use crate::input::TerminalMode;
use crate::lock;
use crate::paint::Paint;
use crate::screen::print_error;
use end::end;
pub(crate) use end::{End, is_stage};
pub(crate) use panics::Panic;
use panics::Panics;

/// Polling interval for a host's panics.
const GLANCE: Duration = Duration::from_millis(50);

/// Runs any host, and reports the module and function of a crash.
///
/// The host has to call `alcedo::crash_guard::arm_if_supervised()`. With ALCEDO_BACKTRACE=1 the backtrace of each panic in plugin
/// code is reported as well. Exits with the code of the host, and with 1 if the host crashes.
#[derive(Debug, clap::Args)]
#[command(override_usage = "alcedo guard <PROGRAM> [ARG]...")]
pub(crate) struct Args {
    /// The host, followed by its arguments.
    // A separate argument for the program would make `--help` after the program an option of `alcedo guard`.
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Runs a host until it exits, and reports a crash. The report contains the location only if the host calls
/// `crash_guard::arm_if_supervised`.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let guard = Guard::new()?;
    pass_signals_on(Arc::clone(&guard.current)).map_err(terminal("listen for Ctrl-C"))?;
    let mut words = args.command.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words);
    match guard.watch(command)? {
        End::Ordered(status) => Ok(code(status)),
        end => {
            print_error(&end.report(Paint::for_stdout()));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Converts the status of an ended process to an exit code of this process.
pub(crate) fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// State of the guarded host for the thread that forwards signals.
#[derive(Debug, Default)]
struct Host {
    process: Option<Arc<OwnedFd>>,
    /// Signals that this process received before the host started.
    waiting: Vec<Signal>,
}

impl Host {
    fn started(&mut self, process: Option<Arc<OwnedFd>>) {
        self.process = process;
        std::mem::take(&mut self.waiting).into_iter().for_each(|signal| self.send(signal));
    }

    fn send(&mut self, signal: Signal) {
        match &self.process {
            // Ignores the error that occurs if the process has exited.
            Some(process) => drop(pidfd_send_signal(process, signal)),
            None => self.waiting.push(signal),
        }
    }
}

type Current = Arc<Mutex<Host>>;

/// Creates a temporary folder of a session.
///
/// # Errors
/// Fails if the folder cannot be created, or if another user could replace it.
pub(crate) fn session_folder() -> Result<PrivateFolder, Error> {
    PrivateFolder::new("alcedo-session-").map_err(file("create a folder for the session in", &std::env::temp_dir()))
}

/// Supervises hosts, one at a time.
pub(crate) struct Guard {
    /// Contains crash files with data of the host, and the saved world.
    dir: PrivateFolder,
    current: Current,
    terminal: TerminalMode,
}

impl Guard {
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self { dir: session_folder()?, current: Current::default(), terminal: TerminalMode::of_stdin() })
    }

    /// Returns a folder that is deleted together with the guard.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns true if no host runs. The end of the last host may not be reported yet, because the report contains a backtrace.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.current).process.is_none()
    }

    /// Runs a host until it exits. The host uses the terminal of this process. If the host did not exit normally, the terminal's mode is
    /// restored.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn watch(&self, command: Command) -> Result<End, Error> {
        let (sender, receiver) = bounded(1);
        let program = PathBuf::from(command.get_program());
        let on_panic = wants_panics(false).then_some(|panic: Panic| {
            print_error(&panic.report(Paint::for_stdout()));
        });
        let _watched = self.start(command, on_panic, move |end| drop(sender.send(end)))?;
        let end = receiver.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        let end = end.map_err(file("wait for", &program))?;
        // Restores the terminal's mode, because a host that crashed or was killed has not restored it.
        if !end.is_orderly() {
            self.terminal.restore();
        }
        Ok(end)
    }

    /// Starts a host and returns. Separate threads call `on_end` when the host ends, and `on_panic` for each panic in plugin code, with the
    /// backtrace of the panic.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn start(
        &self,
        mut command: Command,
        on_panic: Option<impl FnMut(Panic) + Send + 'static>,
        on_end: impl FnOnce(io::Result<End>) + Send + 'static,
    ) -> Result<Watched, Error> {
        let folder = tempfile::tempdir_in(self.dir()).map_err(file("create a folder in", self.dir()))?;
        // Keeps the host's private copies of libraries until the end is reported, because backtraces are read from these copies.
        let kept = keep_copies(folder.path()).map_err(file("lock the folder", folder.path()))?;
        let program = PathBuf::from(command.get_program());
        if on_panic.is_some() {
            command.env(BACKTRACE, "1");
        }
        let mut child = command.env(FOLDER, folder.path()).spawn().map_err(file("start", &program))?;
        // Ignores an error. Without a pidfd, signals are not forwarded to the host.
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok().map(Arc::new);
        lock(&self.current).started(process.clone());
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let watched = Watched { process, _stdin: stdin, stdout, stderr };
        let current = Arc::clone(&self.current);
        let (over, is_over) = bounded::<()>(0);
        let follower = on_panic.map(|on_panic| {
            let panics = Panics::of(folder.path());
            thread::spawn(move || follow(panics, on_panic, &is_over))
        });
        thread::spawn(move || {
            let status = child.wait();
            lock(&current).process = None;
            drop(over);
            // Waits until the thread that reads the panic files has ended.
            let _followed = follower.map(thread::JoinHandle::join);
            on_end(status.map(|status| end(status, folder.path())));
            drop(kept);
        });
        Ok(watched)
    }
}

/// A running host, with its requested output streams.
#[derive(Debug)]
pub(crate) struct Watched {
    /// `None` if the system provides no pidfd.
    pub(crate) process: Option<Arc<OwnedFd>>,
    /// Standard input of the host, if requested. Dropping this value closes the pipe.
    _stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Watched {
    /// Kills the host. Returns false if the host has exited, or cannot be killed because the system provides no pidfd.
    pub(crate) fn kill(&self) -> bool {
        self.process.as_ref().is_some_and(|process| pidfd_send_signal(process, Signal::KILL).is_ok())
    }
}

/// Calls `on_panic` for each panic while the host runs. After the host has ended, also reports the last panics.
fn follow(mut panics: Panics, mut on_panic: impl FnMut(Panic), is_over: &Receiver<()>) {
    loop {
        let was_over = is_over.recv_timeout(GLANCE) == Err(RecvTimeoutError::Disconnected);
        panics.new_ones().into_iter().for_each(&mut on_panic);
        if was_over {
            return;
        }
    }
}

/// Returns true if the user's environment variable requests backtraces of panics. Returns `usual` if the variable is unset.
pub(crate) fn wants_panics(usual: bool) -> bool {
    std::env::var_os(BACKTRACE).map_or(usual, |value| value == "1")
}

/// Signals that are forwarded to a host.
const PASSED_ON: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// Forwards signals that another process has sent to this process. Signals from the terminal reach the host directly, and are not
/// forwarded. A signal that arrives before the host is started is forwarded after the start.
fn pass_signals_on(current: Current) -> io::Result<()> {
    let mut signals = SignalsInfo::<WithOrigin>::new(PASSED_ON)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for origin in signals.forever().filter(|origin| origin.cause != Cause::Kernel) {
            if let Some(signal) = Signal::from_named_raw(origin.signal) {
                lock(&current).send(signal);
            }
        }
    })?;
    Ok(())
}
