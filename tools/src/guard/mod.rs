//! The crash guard: a process that supervises a host, and reports where that crashed once it has. It shares the host's
//! terminal and prints nothing before. `words.rs` reads what the host wrote down in its last moment, `trace.rs`
//! makes a stack of calls of it, `gone.rs` says which images were at an address, `calls.rs` decides in which order
//! these are printed, `panics.rs` does the same for panics while the host runs, and `again.rs` decides with which build
//! a development host goes on.

pub(crate) mod again;
mod calls;
mod gone;
mod names;
mod panics;
mod trace;
mod words;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use alcedo_runtime::crash_guard::{BACKTRACE, FOLDER, keep_copies};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{
    SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGKILL, SIGQUIT, SIGSEGV, SIGTERM, SIGUSR1, SIGUSR2,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::low_level::signal_name;
use tempfile::TempDir;

use crate::error::{Error, file, terminal};
use crate::paint::{Paint, for_terminal};
use calls::Call;
pub(crate) use panics::Panic;
use panics::Panics;
use trace::Trace;
use words::Words;

/// How often a host's panics are read.
const GLANCE: Duration = Duration::from_millis(50);

/// How a host ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself: with an exit status.
    Ordered(ExitStatus),
    /// By a fatal signal.
    Crashed(Box<Crash>),
    /// Unknown: what the system says instead.
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

    /// As lines, for a host that was not asked to end.
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
    /// What is known of an image that is gone and that the crash leads to.
    gone: Gone,
}

/// What a crash has to do with an image that is gone.
#[derive(Debug, Default, PartialEq, Eq)]
enum Gone {
    /// Nothing, or it is unknown.
    #[default]
    Nothing,
    /// Code of it was about to run: what it was, and through which caller, as a whole sentence.
    Ran(String),
    /// Code that is there accessed something in it.
    Touched(String),
}

impl Crash {
    /// As lines.
    pub(crate) fn told(&self, paint: Paint) -> String {
        let mut text = format!("{} {}", paint.red("the host crashed:"), self.what);
        match (&self.gone, calls::culprit(&self.calls)) {
            // The code that made that call got the address from code that may be long gone.
            (Gone::Ran(sentence), _) => text += &format!("\n  {}", paint.bold(sentence)),
            (_, Some(call)) => match calls::innermost_stranger(&self.calls, call) {
                None => text += &format!("\n  {}", paint.bold(&format!("in {call}"))),
                Some(inner) => {
                    text += &format!("\n  {}", paint.bold(&format!("in {inner}")));
                    text += &format!("\n  the innermost call of a module: {call}");
                }
            },
            (_, None) => {
                text += "\n  it could not say where: it ran out of stack on a thread of a plugin's, or was ended from outside"
            }
        }
        if let Gone::Touched(sentence) = &self.gone {
            text += &format!("\n  {sentence}");
        }
        text + &calls::told(&self.calls)
    }
}

/// What a crash has to do with an image that is gone.
fn gone(words: &Words, trace: &Trace) -> Gone {
    if let Some(was) = gone::was_at(words, words.pc) {
        let through = trace.calls.get(1).filter(|_| trace.has_jumped).map(|call| match &call.module {
            Some((module, generation)) => format!("module {module}, generation {generation}"),
            None => call.image.clone(),
        });
        return Gone::Ran(match through {
            Some(through) => format!("a call into {}, through {through}", was.told),
            None => format!("code that is not there ran on, at {:#x}: {}", words.pc, was.told),
        });
    }
    let touched = gone::touched(words);
    touched.map_or(Gone::Nothing, |was| Gone::Touched(format!("at {:#x} there was {}", words.address, was.told)))
}

/// Runs any host, and reports in which module and function it crashed if it does.
///
/// The host has to call `alcedo_runtime::crash_guard::arm_if_supervised()`. With ALCEDO_BACKTRACE=1 the calls of each panic
/// in plugin code are reported as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Wish {
    /// The host.
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// What it is called with.
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs a host to its end and reports a crash. For a host that arms its guard itself.
pub(crate) fn run(Wish { program, args }: &Wish) -> Result<ExitCode, Error> {
    let guard = Guard::new()?;
    pass_signals_on(Arc::clone(&guard.current)).map_err(terminal("listen for Ctrl-C"))?;
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

/// The guarded host, for the thread that passes signals on.
#[derive(Debug, Default)]
struct Host {
    process: Option<Arc<OwnedFd>>,
    /// Signals that came before the start.
    waiting: Vec<Signal>,
}

impl Host {
    fn started(&mut self, process: Option<Arc<OwnedFd>>) {
        self.process = process;
        std::mem::take(&mut self.waiting).into_iter().for_each(|signal| self.send(signal));
    }

    fn send(&mut self, signal: Signal) {
        match &self.process {
            // Fails without effect for a process that has ended.
            Some(process) => drop(pidfd_send_signal(process, signal)),
            None => self.waiting.push(signal),
        }
    }
}

type Current = Arc<Mutex<Host>>;

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
        let dir = dir.map_err(file("create a folder for crashes in", &std::env::temp_dir()))?;
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
        let end = end.map_err(file("wait for", &program))?;
        // A host that crashed has left the terminal as it used it.
        if let (End::Crashed(_), Some(terminal)) = (&end, &self.terminal) {
            let _restored = tcsetattr(io::stdin(), OptionalActions::Now, terminal);
        }
        Ok(end)
    }

    /// Starts a host and returns; `on_end` is called on another thread with how it ended, and `on_panic` with panics in
    /// plugin code, as soon as their calls are known.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(
        &self,
        mut command: Command,
        on_panic: Option<impl FnMut(Panic) + Send + 'static>,
        on_end: impl FnOnce(io::Result<End>) + Send + 'static,
    ) -> Result<Watched, Error> {
        let folder = tempfile::tempdir_in(self.dir()).map_err(file("create a folder in", self.dir()))?;
        // Until the end is reported: the calls are read from the copies of its libraries.
        let kept = keep_copies(folder.path()).map_err(file("lock the folder", folder.path()))?;
        let program = PathBuf::from(command.get_program());
        if on_panic.is_some() {
            command.env(BACKTRACE, "1");
        }
        let mut child = command.env(FOLDER, folder.path()).spawn().map_err(file("start", &program))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // Without it signals end this process and not the host, which then sees its input end.
        let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).map(Arc::new);
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
            // It reads what is in the folder.
            let _followed = follower.map(thread::JoinHandle::join);
            on_end(status.map(|status| end(status, folder.path())));
            drop(kept);
        });
        Ok(watched)
    }
}

/// A host that runs, and what it writes, where that was requested.
#[derive(Debug)]
pub(crate) struct Watched {
    process: Option<Arc<OwnedFd>>,
    /// Its input, if that was requested: it ends when this is dropped.
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

/// Whether the calls of panics are to be printed: as the user's variable says, or as `usual` where it says nothing.
pub(crate) fn wants_panics(usual: bool) -> bool {
    std::env::var_os(BACKTRACE).map_or(usual, |value| value == "1")
}

/// How a host ended that left its last words in `folder`.
fn end(status: ExitStatus, folder: &Path) -> End {
    let Some(signal) = status.signal().filter(|signal| is_fatal(*signal)) else { return End::Ordered(status) };
    let words = Words::read(folder);
    let trace = words.as_ref().map(trace::trace).unwrap_or_default();
    let gone = words.as_ref().map(|words| gone(words, &trace)).unwrap_or_default();
    let crash = Crash { what: what(signal, words.as_ref()), calls: trace.calls, gone };
    if let Some(words) = &words {
        sweep(words);
    }
    End::Crashed(Box::new(crash))
}

fn lock(current: &Current) -> std::sync::MutexGuard<'_, Host> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Signals that end or instruct a host, with the form in which they are sent.
const PASSED_ON: [(i32, Signal); 6] = [
    (SIGINT, Signal::INT),
    (SIGTERM, Signal::TERM),
    (SIGHUP, Signal::HUP),
    (SIGQUIT, Signal::QUIT),
    (SIGUSR1, Signal::USR1),
    (SIGUSR2, Signal::USR2),
];

/// Passes on what was sent to this process alone. What a terminal sends has reached the host already. A signal before the start of
/// the host waits for the host.
fn pass_signals_on(current: Current) -> io::Result<()> {
    let mut signals = SignalsInfo::<WithOrigin>::new(PASSED_ON.map(|(number, _)| number))?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for origin in signals.forever() {
            let passed_on = PASSED_ON.iter().find(|(number, _)| *number == origin.signal);
            if let Some((_, signal)) = passed_on.filter(|_| origin.cause != Cause::Kernel) {
                lock(&current).send(*signal);
            }
        }
    })?;
    Ok(())
}

/// Whether a process that ends by this signal has brought that on itself.
fn is_fatal(signal: i32) -> bool {
    [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT].contains(&signal)
}

fn what(signal: i32, words: Option<&Words>) -> String {
    // The first signal is the cause; a handler that was there before may have ended the process by another.
    let signal = words.map_or(signal, |words| words.signal);
    let mut what = signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
    let Some(words) = words else { return what };
    if words.is_overflow() {
        what += ", the stack is full";
    } else if !words.sent {
        what += &format!(" at address {:#x}", words.address);
    }
    what += &format!(", thread {}", words.thread);
    words.fence.iter().for_each(|fence| what += &format!(", {fence}"));
    if let Some(module) = &words.local {
        what += &format!(", while a thread-local of {module} was dropped: its `Drop` must not panic");
    }
    what
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
    use super::calls::{Call, Owner};
    use super::{Crash, Gone};
    use crate::paint::Paint;

    fn told(calls: Vec<Call>, gone: Gone) -> String {
        Crash { what: "SIGSEGV".into(), calls, gone }.told(Paint::for_tests())
    }

    fn call(function: &str, image: &str, module: Option<(&str, u64)>) -> Call {
        let module = module.map(|(name, generation)| (name.to_owned(), generation));
        Call { function: function.into(), place: None, of: Owner::Library, image: image.into(), module }
    }

    #[test]
    fn a_crash_that_nobody_could_tell_of_is_told_as_such() {
        assert!(told(vec![], Gone::Nothing).contains("could not say where"));
    }

    #[test]
    fn a_module_whose_call_led_into_the_host_is_told_and_not_blamed() {
        let cube = call("cube::tick", "cube.1.so", Some(("cube", 1)));
        let told_of = |inner: Call| {
            let told = told(vec![inner, cube.clone()], Gone::Nothing);
            told.lines().skip(1).take_while(|line| !line.starts_with("    0")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(told_of(call("memcpy", "libc.so.6", None)), ["  in cube::tick   module cube, generation 1"]);
        let host =
            ["  in game::draw   game", "  the innermost call of a module: cube::tick   module cube, generation 1"];
        assert_eq!(told_of(call("game::draw", "game", None)), host);
    }

    #[test]
    fn nobody_who_is_there_is_blamed_for_a_call_into_what_is_gone() {
        let calls = vec![call("0x7000", "cube, generation 1", None), call("other::tick", "o.so", Some(("other", 2)))];
        let sentence = "a call into cube, generation 1, unmapped 3 s ago, through libcrypto.so.3";
        let told = told(calls, Gone::Ran(sentence.into()));
        assert!(told.starts_with(&format!("the host crashed: SIGSEGV\n  {sentence}\n")), "{told}");
        assert!(!told.contains("\n  in "), "{told}");
    }
}
