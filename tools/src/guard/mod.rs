//! The crash guard: a process that looks after a host, and tells where that crashed once it has. It shares the host's
//! terminal and says nothing while all is well. `words.rs` reads what the host wrote down in its last moment, `trace.rs`
//! makes a stack of calls of it, `calls.rs` decides in which order these are told, `panics.rs` does the same for panics while the host runs, and `again.rs` decides with which build a development host goes on.

pub(crate) mod again;
mod calls;
mod panics;
mod trace;
mod words;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};

use alcedo_runtime::crash_guard::{BACKTRACE, FOLDER, keep_copies};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use tempfile::TempDir;

use crate::error::Error;
use crate::paint::{Paint, for_terminal};
use calls::Call;
pub(crate) use panics::Panic;
use panics::Panics;
use words::Words;

/// A host is asked for its panics this often.
const GLANCE: Duration = Duration::from_millis(50);

/// How a host ended.
#[derive(Debug)]
pub(crate) enum End {
    /// As it wanted to.
    Ordered(ExitStatus),
    /// By a fatal signal.
    Crashed(Box<Crash>),
    /// What the system says where nobody can know.
    Lost(String),
}

impl End {
    /// Whether the host has returned from its `main` with success.
    pub(crate) fn is_orderly(&self) -> bool {
        matches!(self, Self::Ordered(status) if status.success())
    }

    /// Whether it was ended by force, as [`Watched::kill`] does.
    pub(crate) fn is_killed(&self) -> bool {
        matches!(self, Self::Ordered(status) if status.signal() == Some(SIGKILL))
    }

    /// The same end, of which is known that memory was exhausted, in the words of the program.
    pub(crate) fn out_of_memory(self, text: String) -> Self {
        match self {
            Self::Crashed(mut crash) => {
                crash.what = format!("out of memory, {text}; {}", crash.what);
                Self::Crashed(crash)
            }
            other => other,
        }
    }

    /// As lines, for a host that nobody had asked to end.
    pub(crate) fn told(&self, paint: Paint) -> String {
        let ended = |how: String| format!("{} {how}", paint.red("the host ended:"));
        match self {
            Self::Crashed(crash) => crash.told(paint),
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

/// A crash, for a person.
#[derive(Debug)]
pub(crate) struct Crash {
    /// The signal, and what else is known of the moment.
    what: String,
    /// Innermost first; empty when the host could not say.
    calls: Vec<Call>,
}

impl Crash {
    /// As lines.
    pub(crate) fn told(&self, paint: Paint) -> String {
        let mut text = format!("{} {}", paint.red("the host crashed:"), self.what);
        match calls::culprit(&self.calls) {
            Some(call) => text += &format!("\n  {}", paint.bold(&format!("in {call}"))),
            None => {
                text += "\n  it could not say where: it ran out of stack on a thread of a plugin's, or was ended from outside"
            }
        }
        text + &calls::told(&self.calls)
    }
}

/// Runs a host to its end and tells of a crash. For a host that arms its guard itself.
pub(crate) fn run(program: &Path, args: &[std::ffi::OsString]) -> Result<ExitCode, Error> {
    let guard = Guard::new()?;
    pass_signals_on(Arc::clone(&guard.current))
        .map_err(|source| Error::Terminal { doing: "listen for Ctrl-C", source })?;
    let mut command = Command::new(program);
    command.args(args);
    match guard.watch(command)? {
        End::Ordered(status) => Ok(code(status)),
        end => {
            eprintln!("{}", for_terminal(&end.told(Paint::for_stdout())));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The code of a process that has ended, for ours.
pub(crate) fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The host that is looked after now, for the thread that passes signals on.
type Current = Arc<Mutex<Option<Arc<OwnedFd>>>>;

/// Looks after one host after the other.
pub(crate) struct Guard {
    dir: TempDir,
    current: Current,
    terminal: Option<Termios>,
}

impl Guard {
    /// # Errors
    /// What the system says.
    pub(crate) fn new() -> Result<Self, Error> {
        // For this user only: what a host holds is in its last words, and its world goes through here.
        let private = fs::Permissions::from_mode(0o700);
        let dir = tempfile::Builder::new().prefix("alcedo-guard-").permissions(private).tempdir();
        let dir = dir.map_err(Error::file("create a folder for crashes in", &std::env::temp_dir()))?;
        Ok(Self { dir, current: Current::default(), terminal: tcgetattr(io::stdin()).ok() })
    }

    /// A folder that is there for as long as the guard.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs a host to its end. It has our terminal meanwhile, and we have it back afterwards, whatever became of it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn watch(&self, command: Command) -> Result<End, Error> {
        let (sender, receiver) = bounded(1);
        let program = PathBuf::from(command.get_program());
        // We hold the other end.
        let on_panic = wants_panics(false).then_some(|panic: Panic| {
            eprintln!("{}", for_terminal(&panic.told(Paint::for_stdout())));
        });
        let _watched = self.start(command, on_panic, move |end| drop(sender.send(end)))?;
        let end = receiver.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        let end = end.map_err(Error::file("wait for", &program))?;
        // A host that crashed has left the terminal as it used it.
        if let (End::Crashed(_), Some(terminal)) = (&end, &self.terminal) {
            let _restored = tcsetattr(io::stdin(), OptionalActions::Now, terminal);
        }
        Ok(end)
    }

    /// Starts a host and returns; `on_end` hears on another thread how it ended, and `on_panic` of panics in plugin code, as
    /// soon as their calls are known.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(
        &self,
        mut command: Command,
        on_panic: Option<impl FnMut(Panic) + Send + 'static>,
        on_end: impl FnOnce(io::Result<End>) + Send + 'static,
    ) -> Result<Watched, Error> {
        let folder = tempfile::tempdir_in(self.dir()).map_err(Error::file("create a folder in", self.dir()))?;
        // Until the end is told: the calls are read from the copies of its libraries.
        let kept = keep_copies(folder.path()).map_err(Error::file("lock the folder", folder.path()))?;
        let program = PathBuf::from(command.get_program());
        if on_panic.is_some() {
            command.env(BACKTRACE, "1");
        }
        let mut child = command.env(FOLDER, folder.path()).spawn().map_err(Error::file("start", &program))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // Without it signals end this process and not the host, which then sees its input end.
        let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).map(Arc::new);
        *lock(&self.current) = process.clone();
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
            *lock(&current) = None;
            drop(over);
            // It reads what is in the folder.
            let _followed = follower.map(thread::JoinHandle::join);
            on_end(status.map(|status| end(status, folder.path())));
            drop(kept);
        });
        Ok(watched)
    }
}

/// A host that runs, and what it writes, where that was asked for.
#[derive(Debug)]
pub(crate) struct Watched {
    process: Option<Arc<OwnedFd>>,
    /// Its input, if that was asked for: it ends when this is dropped.
    _stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Watched {
    /// Ends it, whatever it does. Without effect on one that has ended.
    pub(crate) fn kill(&self) {
        if let Some(process) = &self.process {
            let _gone = pidfd_send_signal(process, Signal::KILL);
        }
    }
}

/// Hands on what panics until the host is over, and what it left then.
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

/// Whether the calls of panics are wanted: as the user's variable says, or as `usual` where it says nothing.
pub(crate) fn wants_panics(usual: bool) -> bool {
    std::env::var_os(BACKTRACE).map_or(usual, |value| value == "1")
}

/// How a host ended that left its last words in `folder`.
fn end(status: ExitStatus, folder: &Path) -> End {
    let Some(signal) = status.signal().filter(|signal| is_fatal(*signal)) else { return End::Ordered(status) };
    let words = Words::read(folder);
    let crash = Crash { what: what(signal, words.as_ref()), calls: words.iter().flat_map(trace::calls).collect() };
    if let Some(words) = &words {
        sweep(words);
    }
    End::Crashed(Box::new(crash))
}

fn lock(current: &Current) -> std::sync::MutexGuard<'_, Option<Arc<OwnedFd>>> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes on what was sent to this process alone. What a terminal sends has reached the host already.
fn pass_signals_on(current: Current) -> io::Result<()> {
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for origin in signals.forever() {
            let signal = match origin.signal {
                SIGINT => Signal::INT,
                SIGHUP => Signal::HUP,
                _ => Signal::TERM,
            };
            let current = lock(&current);
            if origin.cause != Cause::Kernel
                && let Some(host) = &*current
            {
                // One that has ended needs no signal.
                let _sent = pidfd_send_signal(host, signal);
            }
        }
    })?;
    Ok(())
}

/// Whether a process that ends by this signal has brought that on itself.
fn is_fatal(signal: i32) -> bool {
    name(signal).is_some()
}

fn name(signal: i32) -> Option<&'static str> {
    use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    match signal {
        SIGSEGV => Some("SIGSEGV"),
        SIGBUS => Some("SIGBUS"),
        SIGILL => Some("SIGILL"),
        SIGFPE => Some("SIGFPE"),
        SIGABRT => Some("SIGABRT"),
        _ => None,
    }
}

fn what(signal: i32, words: Option<&Words>) -> String {
    // The first signal is the cause; a handler that was there before may have ended the process by another.
    let signal = words.map_or(signal, |words| words.signal);
    let mut what = name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
    let Some(words) = words else { return what };
    if words.is_overflow() {
        what += ", the stack is full";
    } else if !words.sent {
        what += &format!(" at address {:#x}", words.address);
    }
    what + &format!(", thread {}", words.thread)
}

/// Removes what a host that crashed could not remove itself: private copies of libraries.
fn sweep(words: &Words) {
    let is_ours = |dir: &&PathBuf| {
        let name = dir.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("alcedo-stage-"))
    };
    for dir in words.stages.iter().filter(is_ours) {
        // What stays is a file too many in the folder for temporary files.
        let _swept = fs::remove_dir_all(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::Crash;
    use crate::paint::Paint;

    #[test]
    fn a_crash_that_nobody_could_tell_of_is_told_as_such() {
        let crash = Crash { what: "SIGSEGV".into(), calls: vec![] };
        assert!(crash.told(Paint::for_tests()).contains("could not say where"));
    }
}
