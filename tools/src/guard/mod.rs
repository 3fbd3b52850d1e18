//! The crash guard: a process that looks after a host, and tells where that crashed once it has. It shares the host's
//! terminal and says nothing while all is well. `words.rs` reads what the host wrote down in its last moment, `trace.rs`
//! makes a stack of calls of it, and `again.rs` decides with which build a development host goes on.

pub(crate) mod again;
mod trace;
mod words;

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use alcedo_runtime::crash_guard::{FOLDER, keep_copies};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use tempfile::TempDir;

use crate::error::Error;
use crate::paint::Paint;
use trace::Call;
use words::Words;

/// So many lines are told of the calls.
const LINES: usize = 32;

/// How a host ended.
#[derive(Debug)]
pub(crate) enum End {
    /// As it wanted to.
    Ordered(ExitStatus),
    /// By a fatal signal.
    Crashed(Box<Crash>),
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
    /// The innermost call of a module's own code; of any code in a module; or of all there are. A module has a standard
    /// library of its own, which is where most crashes happen and where none begins.
    fn culprit(&self) -> Option<&Call> {
        let in_modules = || self.calls.iter().filter(|call| call.module.is_some());
        in_modules().find(|call| !call.is_of_library()).or_else(|| in_modules().next()).or(self.calls.first())
    }

    /// As lines.
    pub(crate) fn told(&self, paint: Paint) -> String {
        let mut text = format!("{} {}", paint.red("the host crashed:"), self.what);
        match self.culprit() {
            Some(call) => text += &format!("\n  {}", paint.bold(&format!("in {call}"))),
            None => {
                text += "\n  it could not say where: it ran out of stack on a thread of a plugin's, or was ended from outside"
            }
        }
        // The standard library is between everything and of no interest, and a stack that is full is full of the same.
        let numbered: Vec<_> = self.calls.iter().enumerate().filter(|(_, call)| !call.is_of_std()).collect();
        let groups: Vec<_> = numbered.chunk_by(|(_, one), (_, next)| one == next).collect();
        for group in groups.iter().take(LINES) {
            let (number, call) = group[0];
            let times = if group.len() > 1 { format!("   {} times", group.len()) } else { String::new() };
            text += &format!("\n  {number:>3} {call}{times}");
        }
        if groups.len() > LINES {
            text += &format!("\n      and {} more", self.calls.len() - groups[LINES][0].0);
        }
        text
    }
}

impl Call {
    /// Whether its source is the standard library's.
    fn is_of_std(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.starts_with("/rustc/"))
    }

    /// Whether its source is none of the author's: the standard library, or a crate of a registry.
    fn is_of_library(&self) -> bool {
        self.is_of_std() || self.place.as_ref().is_none_or(|place| place.contains("/registry/src/"))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        match &self.module {
            Some((module, generation)) => write!(f, "   module {module}, generation {generation}")?,
            None => write!(f, "   {}", self.image)?,
        }
        self.place.iter().try_for_each(|place| write!(f, "   {place}"))
    }
}

/// Runs a host to its end and tells of a crash. For a host that arms its guard itself.
pub(crate) fn run(program: &Path, args: &[std::ffi::OsString]) -> Result<ExitCode, Error> {
    let guard = Guard::new()?;
    let mut command = Command::new(program);
    command.args(args);
    match guard.watch(command)? {
        End::Ordered(status) => Ok(code(status)),
        End::Crashed(crash) => {
            eprintln!("{}", crash.told(Paint::for_stdout()));
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
type Current = Arc<Mutex<Option<rustix::fd::OwnedFd>>>;

/// Looks after one host after the other. While it lives, signals that are meant to end this process go to the host.
pub(crate) struct Guard {
    dir: TempDir,
    current: Current,
    terminal: Option<Termios>,
}

impl Guard {
    /// # Errors
    /// What the system says.
    pub(crate) fn new() -> Result<Self, Error> {
        let dir = tempfile::Builder::new().prefix("alcedo-guard-").tempdir();
        let dir = dir.map_err(Error::file("create a folder for crashes in", &std::env::temp_dir()))?;
        let current = Current::default();
        pass_signals_on(Arc::clone(&current))
            .map_err(|source| Error::Terminal { doing: "listen for Ctrl-C", source })?;
        Ok(Self { dir, current, terminal: tcgetattr(io::stdin()).ok() })
    }

    /// A folder that is there for as long as the guard.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs a host to its end. It has our terminal meanwhile, and we have it back afterwards, whatever became of it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn watch(&self, mut command: Command) -> Result<End, Error> {
        let words = tempfile::tempdir_in(self.dir()).map_err(Error::file("create a folder in", self.dir()))?;
        let _kept = keep_copies(words.path()).map_err(Error::file("lock the folder", words.path()))?;
        let program = PathBuf::from(command.get_program());
        let mut child = command.env(FOLDER, words.path()).spawn().map_err(Error::file("start", &program))?;
        self.set_current(Some(&child));
        let status = child.wait();
        self.set_current(None);
        let status = status.map_err(Error::file("wait for", &program))?;
        let fatal = status.signal().filter(|signal| is_fatal(*signal));
        let Some(signal) = fatal else { return Ok(End::Ordered(status)) };
        // A host that crashed has left the terminal as it used it.
        if let Some(terminal) = &self.terminal {
            let _restored = tcsetattr(io::stdin(), OptionalActions::Now, terminal);
        }
        let words = Words::read(words.path());
        let crash = Crash { what: what(signal, words.as_ref()), calls: words.iter().flat_map(trace::calls).collect() };
        if let Some(words) = &words {
            sweep(words);
        }
        Ok(End::Crashed(Box::new(crash)))
    }

    fn set_current(&self, child: Option<&Child>) {
        let pid = child.and_then(|child| i32::try_from(child.id()).ok()).and_then(Pid::from_raw);
        // Without it signals end this process and not the host, which then sees its input end.
        let fd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = fd;
    }
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
            let current = current.lock().unwrap_or_else(PoisonError::into_inner);
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
    use super::{Call, Crash};
    use crate::paint::Paint;

    fn call(function: &str, module: Option<(&str, u64)>, place: Option<&str>) -> Call {
        Call {
            function: function.into(),
            place: place.map(str::to_owned),
            image: "libc.so.6".into(),
            module: module.map(|(name, generation)| (name.to_owned(), generation)),
        }
    }

    #[test]
    fn the_innermost_call_of_a_module_is_the_one_that_is_named() {
        let calls = vec![
            call("abort", None, None),
            call("std::process::abort", Some(("magic_cube", 2)), Some("/rustc/5980/library/std/src/process.rs:1")),
            call("cube::tick", Some(("magic_cube", 2)), Some("src/lib.rs:7")),
            call("main", None, None),
            call("main", None, None),
        ];
        let crash = Crash { what: "SIGABRT, thread main".into(), calls };
        expect_test::expect![[r#"
            the host crashed: SIGABRT, thread main
              in cube::tick   module magic_cube, generation 2   src/lib.rs:7
                0 abort   libc.so.6
                2 cube::tick   module magic_cube, generation 2   src/lib.rs:7
                3 main   libc.so.6   2 times"#]]
        .assert_eq(&crash.told(Paint::for_tests()));
    }

    #[test]
    fn a_crash_that_nobody_could_tell_of_is_told_as_such() {
        let crash = Crash { what: "SIGSEGV".into(), calls: vec![] };
        assert!(crash.told(Paint::for_tests()).contains("could not say where"));
    }
}
