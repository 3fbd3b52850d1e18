//! The crash guard: a process that supervises a host, and reports the location of a crash. The guard shares the host's terminal and prints
//! nothing before a crash. `dump.rs` reads the files that the host wrote during the crash, and `trace.rs` converts them to a backtrace.
//! `unmapped.rs` finds the unmapped images at an address, and `calls.rs` orders the frames for output. `panics.rs` reports panics while the
//! host runs.

mod calls;
mod dump;
mod names;
mod panics;
mod trace;
mod unmapped;

use std::ffi::OsString;
use std::fs;
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
use serde_json::{Value, json};
use signal_hook::consts::{
    SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGQUIT, SIGSEGV, SIGTERM, SIGUSR1, SIGUSR2,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::low_level::signal_name;

use crate::error::{Error, file, terminal};
use crate::input::TerminalMode;
use crate::lock;
use crate::paint::Paint;
use crate::screen::print_error;
use calls::Call;
use dump::CrashDump;
pub(crate) use panics::Panic;
use panics::Panics;
use trace::Trace;

/// Maximum number of frames in a brief report.
const BRIEF: usize = 8;
/// Polling interval for a host's panics.
const GLANCE: Duration = Duration::from_millis(50);

/// Reason why the process of a host has ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The host exited normally, or was killed by a signal that is not a crash.
    Ordered(ExitStatus),
    Crashed(Box<Crash>),
    /// The end is unknown, because the system returned this error.
    Lost(String),
}

impl End {
    /// Returns true if the host exited with a successful status.
    pub(crate) fn is_orderly(&self) -> bool {
        matches!(self, Self::Ordered(status) if status.success())
    }

    /// Returns true if the host was killed, as by [`Watched::kill`].
    pub(crate) fn is_killed(&self) -> bool {
        matches!(self, Self::Ordered(status) if status.signal() == Some(SIGKILL))
    }

    /// Adds to the crash report a message about exhausted memory, which the program printed before its crash.
    pub(crate) fn out_of_memory(mut self, text: &str) -> Self {
        if let Self::Crashed(crash) = &mut self {
            crash.what = format!("out of memory, {text}; {}", crash.what);
        }
        self
    }

    /// Formats the end as a few lines, with the author's frames only.
    pub(crate) fn brief(&self, paint: Paint) -> String {
        if let Self::Crashed(crash) = self { crash.brief(paint) } else { self.report(paint) }
    }

    /// Returns the end as JSON fields, for other programs.
    pub(crate) fn facts(&self) -> Value {
        match self {
            Self::Crashed(crash) => json!({
                "how": "crash", "what": crash.what, "frames": crash.calls, "text": crash.report(Paint::off()),
            }),
            Self::Lost(error) => json!({ "how": "unknown", "error": error }),
            Self::Ordered(status) => json!({ "how": "exit", "code": status.code(), "signal": status.signal() }),
        }
    }

    /// Formats the end as lines, for a host that exited unexpectedly.
    pub(crate) fn report(&self, paint: Paint) -> String {
        let ended = |how: String| format!("{} {how}", paint.red("the host ended:"));
        match self {
            Self::Crashed(crash) => crash.report(paint),
            Self::Lost(error) => ended(error.clone()),
            Self::Ordered(status) => match status.signal() {
                Some(SIGKILL) => {
                    ended("by SIGKILL, from outside: by hand, or because the machine was out of memory".to_owned())
                }
                Some(signal) => ended(format!("by signal {signal}, from outside")),
                None => ended(format!(
                    "by itself, with exit code {}, without an end of its runtime",
                    status.code().unwrap_or_default()
                )),
            },
        }
    }
}

/// A readable crash report.
#[derive(Debug)]
pub(crate) struct Crash {
    /// Signal and details, such as address and thread.
    what: String,
    /// Frames, innermost first. Empty if the host could not record the stack.
    calls: Vec<Call>,
    /// States if the crash was caused by the use of an unmapped image.
    unmapped: UnmappedUse,
    /// Set if the host had called `crash_guard::arm_if_supervised`.
    armed: bool,
}

/// Message for a crash whose location the host has not recorded.
const NOT_ARMED: &str = "the location is unknown: the host has not armed its crash guard\n  add to the start of its main: \
     alcedo::crash_guard::arm_if_supervised()?;";

/// Use of an unmapped image that caused a crash.
#[derive(Debug, Default, PartialEq, Eq)]
enum UnmappedUse {
    /// The crash is not related to an unmapped image, or the cause is unknown.
    #[default]
    Unrelated,
    /// The host jumped to code of an unmapped image. The string names the image and, if known, the caller.
    Called(String),
    /// Mapped code accessed an address in the former range of an unmapped image.
    Accessed(String),
}

impl Crash {
    /// Formats the crash as a few lines, with the author's frames only.
    fn brief(&self, paint: Paint) -> String {
        let brief = if self.calls.is_empty() {
            String::new()
        } else {
            calls::brief(&self.calls, calls::culprit(&self.calls), BRIEF)
        };
        self.head(paint) + &brief
    }

    /// Formats the crash as lines.
    pub(crate) fn report(&self, paint: Paint) -> String {
        self.head(paint) + &calls::report(&self.calls)
    }

    fn head(&self, paint: Paint) -> String {
        let mut text = format!("{} {}", paint.red("the host crashed:"), self.what);
        match (&self.unmapped, calls::culprit(&self.calls)) {
            // The report names the unmapped image instead of the author's frame, because the address may come from code that is now
            // unmapped.
            (UnmappedUse::Called(sentence), _) => text += &format!("\n  {}", paint.bold(sentence)),
            (_, Some(call)) => match calls::innermost_stranger(&self.calls, call) {
                None => text += &format!("\n  {}", paint.bold(&format!("in {call}"))),
                Some(inner) => {
                    text += &format!("\n  {}", paint.bold(&format!("in {inner}")));
                    text += &format!("\n  the innermost call of a module: {call}");
                }
            },
            (_, None) if !self.armed => text += &format!("\n  {NOT_ARMED}"),
            (_, None) => {
                text += "\n  the location is unknown: a plugin's thread ran out of stack, or the host was killed from outside"
            }
        }
        if let UnmappedUse::Accessed(sentence) = &self.unmapped {
            text += &format!("\n  {sentence}");
        }
        text
    }
}

/// Determines if a crash was caused by the use of an unmapped image.
fn unmapped_use(dump: &CrashDump, trace: &Trace) -> UnmappedUse {
    if let Some(former) = unmapped::former_images(dump, dump.pc) {
        let through = trace.calls.get(1).filter(|_| trace.has_jumped).map(|call| match &call.module {
            Some((module, generation)) => format!("module {module}, generation {generation}"),
            None => call.image.clone(),
        });
        return UnmappedUse::Called(match through {
            Some(through) => format!("a call into {}, through {through}", former.description),
            None => format!("the host executed unmapped code at {:#x}: {}", dump.pc, former.description),
        });
    }
    let accessed = unmapped::accessed(dump);
    accessed.map_or(UnmappedUse::Unrelated, |former| {
        UnmappedUse::Accessed(format!("at {:#x} there was {}", dump.address, former.description))
    })
}

/// Runs any host, and reports the module and function of a crash.
///
/// The host has to call `alcedo_runtime::crash_guard::arm_if_supervised()`. With ALCEDO_BACKTRACE=1 the backtrace of each
/// panic in plugin code is reported as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The host.
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// Arguments of the host.
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs a host until it exits, and reports a crash. The report contains the location only if the host calls
/// `crash_guard::arm_if_supervised`.
pub(crate) fn run(Args { program, args }: &Args) -> Result<ExitCode, Error> {
    let guard = Guard::new()?;
    pass_signals_on(Arc::clone(&guard.current)).map_err(terminal("listen for Ctrl-C"))?;
    let mut command = Command::new(program);
    command.args(args);
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
    /// Kills the host. Has no effect if the host has exited.
    pub(crate) fn kill(&self) {
        if let Some(process) = &self.process {
            let _sent = pidfd_send_signal(process, Signal::KILL);
        }
    }
}

/// Calls `on_panic` for each panic while the host runs. After the host has ended, also reports the last panics.
fn follow(mut panics: Panics, on_panic: impl FnMut(Panic), is_over: &Receiver<()>) {
    let mut on_panic = on_panic;
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

/// Returns the end of a host that wrote its crash files to `folder`.
fn end(status: ExitStatus, folder: &Path) -> End {
    let Some(signal) = status.signal().filter(|signal| is_fatal(*signal)) else { return End::Ordered(status) };
    let dump = CrashDump::read(folder);
    let trace = dump.as_ref().map(trace::trace).unwrap_or_default();
    let unmapped = dump.as_ref().map(|dump| unmapped_use(dump, &trace)).unwrap_or_default();
    let armed = CrashDump::is_armed(folder);
    let crash = Crash { what: what(signal, dump.as_ref()), calls: trace.calls, unmapped, armed };
    if let Some(dump) = &dump {
        sweep(dump);
    }
    End::Crashed(Box::new(crash))
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

/// Returns true for a signal that a process receives because of its own crash.
fn is_fatal(signal: i32) -> bool {
    [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT].contains(&signal)
}

fn what(signal: i32, dump: Option<&CrashDump>) -> String {
    // Uses the recorded signal, because a second handler may have ended the process by a different signal.
    let signal = dump.map_or(signal, |dump| dump.signal);
    let mut what = signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
    let Some(dump) = dump else { return what };
    if dump.is_overflow() {
        what += ", the stack is full";
    } else if !dump.sent {
        what += &format!(" at address {:#x}", dump.address);
    }
    what += &format!(", thread {}", dump.thread);
    dump.fence.iter().for_each(|fence| what += &format!(", {fence}"));
    if let Some(module) = &dump.local {
        what += &format!(", while a thread-local of {module} was dropped: its `Drop` must not panic");
    }
    what
}

/// Removes private copies of libraries that a crashed host did not remove.
fn sweep(dump: &CrashDump) {
    let is_ours = |dir: &&PathBuf| {
        let name = dir.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("alcedo-stage-"))
    };
    for dir in dump.stages.iter().filter(is_ours) {
        // Ignores errors, because a remaining file only occupies space in the temporary folder.
        let _swept = fs::remove_dir_all(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::calls::{Call, Owner};
    use super::{Crash, UnmappedUse};
    use crate::paint::Paint;

    fn report(calls: Vec<Call>, unmapped: UnmappedUse) -> String {
        Crash { what: "SIGSEGV".into(), calls, unmapped, armed: true }.report(Paint::off())
    }

    fn call(function: &str, image: &str, module: Option<(&str, u64)>) -> Call {
        let module = module.map(|(name, generation)| (name.to_owned(), generation));
        Call { function: function.into(), location: None, of: Owner::Library, image: image.into(), module }
    }

    #[test]
    fn a_crash_without_a_location_is_reported_as_such() {
        assert!(report(vec![], UnmappedUse::Unrelated).contains("the location is unknown: a plugin's thread"));
    }

    #[test]
    fn an_unarmed_guard_is_reported_with_the_line_to_add() {
        let crash = Crash { what: "SIGSEGV".into(), calls: vec![], unmapped: UnmappedUse::Unrelated, armed: false };
        let report = crash.report(Paint::off());
        assert!(
            report.contains("has not armed its crash guard") && report.contains("arm_if_supervised()?;"),
            "{report}"
        );
    }

    #[test]
    fn a_module_that_called_into_the_host_is_listed_but_not_blamed() {
        let cube = call("cube::tick", "cube.1.so", Some(("cube", 1)));
        let head_of = |inner: Call| {
            let report = report(vec![inner, cube.clone()], UnmappedUse::Unrelated);
            report.lines().skip(1).take_while(|line| !line.starts_with("    0")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(head_of(call("memcpy", "libc.so.6", None)), ["  in cube::tick   module cube, generation 1"]);
        let host =
            ["  in game::draw   game", "  the innermost call of a module: cube::tick   module cube, generation 1"];
        assert_eq!(head_of(call("game::draw", "game", None)), host);
    }

    #[test]
    fn no_mapped_module_is_blamed_for_a_call_into_unmapped_code() {
        let calls = vec![call("0x7000", "cube, generation 1", None), call("other::tick", "o.so", Some(("other", 2)))];
        let sentence = "a call into cube, generation 1, unmapped 3 s ago, through libcrypto.so.3";
        let report = report(calls, UnmappedUse::Called(sentence.into()));
        assert!(report.starts_with(&format!("the host crashed: SIGSEGV\n  {sentence}\n")), "{report}");
        assert!(!report.contains("\n  in "), "{report}");
    }
}
