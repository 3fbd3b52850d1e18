//! Host side of a canary. Starts the canary, reads messages until the canary exits, and reports the outcome. The deadline limits the wait,
//! even if a module blocks the canary.

use std::io::{self, BufRead as _, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::protocol::{ARGUMENT, Candidates, Course, End, Message, Token};
use super::wire::{Received, Wire, WireError};
use crate::escape::printable;
use crate::load::error::LoadError;
use crate::load::error::canary::CanaryStep;
use crate::sync::lock;

/// Maximum length in bytes of each excerpt in a report. The excerpts are the beginning and the end of the canary's output. The beginning
/// contains the panic message.
const EXCERPT: usize = 1000;
/// Maximum number of bytes that are read as one line. A module may print without line breaks.
const LONGEST_LINE: usize = 8000;
/// Interval between two checks of the exit status. A child process may keep the socket open after the canary has exited.
const GLANCE: Duration = Duration::from_millis(50);
/// Maximum wait for the remaining output of a canary that has exited.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Canary process that waits for its request.
pub(crate) struct Started {
    program: PathBuf,
    child: Leashed,
    wire: Wire,
    printed: Printed,
}

impl Started {
    /// Starts `program` as a canary.
    ///
    /// # Errors
    /// Returns [`LoadError::CanaryUnavailable`] if the process cannot be started.
    pub(super) fn new(program: PathBuf) -> Result<Self, LoadError> {
        let started = start(&program).and_then(|(child, wire, output)| Ok((child, wire, Printed::of(output)?)));
        match started {
            Ok((child, wire, printed)) => Ok(Self { program, child, wire, printed }),
            Err(error) => Err(LoadError::CanaryUnavailable { program, reason: error.to_string() }),
        }
    }

    /// Lets the canary load the candidates.
    ///
    /// # Errors
    /// Returns an error if the canary fails. The error names the module that caused the failure.
    pub(super) fn run(self, candidates: Candidates, deadline: Duration) -> Result<(), LoadError> {
        // An early return drops these values in reverse order, so it also kills the canary before the socket closes.
        let Self { program, mut wire, mut child, printed } = self;
        let until = crate::deadline::after(deadline);
        let names: Vec<_> = candidates.iter().map(|candidate| candidate.name.clone()).collect();
        match wire.send(&Message::Request(candidates), Some(deadline)) {
            Ok(()) => {}
            // The canary has exited or does not read. `watch` reports the exit status or the missed deadline.
            Err(WireError::System(_)) => {}
            Err(WireError::Frame(error)) => {
                return Err(LoadError::CanaryUnavailable { program, reason: error.to_string() });
            }
        }
        let mut course = Course::new(names.len() as u32);
        let end = watch(&mut course, &mut wire, &mut child.0, until);
        // Kills the canary before the socket closes, because the canary aborts when the socket closes. The output then ends, unless a child
        // process of the canary keeps the pipe open.
        drop(child);
        if let End::Done = end {
            return Ok(());
        }
        end_of(end, &program, &names, &course, deadline, printed.excerpt())
    }
}

/// A child process that is killed on drop. The drop waits for the end of the process, because files, locks or ports of the canary's modules
/// would conflict with the modules that the host maps next.
struct Leashed(Child);

impl Drop for Leashed {
    fn drop(&mut self) {
        // `kill` returns an error if the process has ended. `wait` always returns after a kill.
        let _ended = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn start(program: &Path) -> io::Result<(Leashed, Wire, PipeReader)> {
    let token = u128::from(random()?) << 64 | u128::from(random()?);
    let (wire, input) = Wire::pair(Token(token))?;
    let (output, writer) = io::pipe()?;
    let mut command = Command::new(program);
    // Disables backtraces. A long backtrace would displace the panic message in the excerpt.
    command.env("RUST_BACKTRACE", "0");
    command.arg(ARGUMENT).stdin(input).stdout(writer.try_clone()?).stderr(Stdio::from(writer));
    // The command holds the child's ends of the pipes. Dropping the command closes these ends in this process. An open end would keep
    // `output` open.
    Ok((Leashed(command.spawn()?), wire, output))
}

fn random() -> io::Result<u64> {
    getrandom::u64().map_err(|error| io::Error::other(error.to_string()))
}

/// Reads messages until the canary exits, sends an invalid message, or exceeds the deadline.
fn watch(course: &mut Course, wire: &mut Wire, child: &mut Child, until: Instant) -> End {
    let mut let_go = false;
    loop {
        let patience = until.saturating_duration_since(Instant::now());
        let received = match let_go {
            false => wire.receive(Some(patience.min(GLANCE))),
            // The canary's end of the socket is closed. Either the canary has exited, or a module in the canary has closed the descriptor.
            // In the second case, the canary may continue to run. This loop therefore polls the exit status.
            true => {
                std::thread::sleep(Duration::from_millis(1));
                Ok(Received::Nothing)
            }
        };
        match received {
            Ok(Received::Message(message)) => {
                if let Some(end) = course.take(message) {
                    return end;
                }
            }
            Ok(Received::End) => let_go = true,
            Ok(Received::Nothing) => match child.try_wait() {
                Ok(None) if patience.is_zero() => return End::Silent,
                Ok(None) => {}
                // `try_wait` fails for an ended process if the host ignores `SIGCHLD`, or if other code of the host has waited for the
                // process.
                status => return last_words(course, wire, End::Exited(status.ok().flatten())),
            },
            Err(error) => return End::Disturbed(error.to_string()),
        }
    }
}

/// Reads the remaining messages of a canary that has exited. Does not wait for further messages, because a child process of the canary may
/// keep the socket open. An exit of the canary is a failure, because a successful canary waits until the host kills its process.
fn last_words(course: &mut Course, wire: &mut Wire, end: End) -> End {
    while let Ok(Received::Message(message)) = wire.receive(Some(Duration::ZERO)) {
        match course.take(message) {
            None => {}
            Some(End::Done) => break,
            Some(end) => return end,
        }
    }
    end
}

/// Output of a canary. A thread reads the output until every writer has closed the pipe.
struct Printed {
    words: Arc<Mutex<Words>>,
    over: Receiver<()>,
}

impl Printed {
    fn of(output: PipeReader) -> io::Result<Self> {
        let words = Arc::<Mutex<Words>>::default();
        let (end, over) = bounded(0);
        let shared = Arc::clone(&words);
        let reader = std::thread::Builder::new().name("alcedo-canary".to_owned());
        reader.spawn(move || read(output, &shared, &end))?;
        Ok(Self { words, over })
    }

    /// Waits for the end of the output, up to a timeout, and returns the excerpts.
    fn excerpt(&self) -> String {
        let _over = self.over.recv_timeout(LAST_WORDS);
        lock(&self.words).excerpt()
    }
}

/// Reads lines until every writer has closed the pipe. Then the sender is dropped, and the drop signals the end of the output.
fn read(output: PipeReader, words: &Mutex<Words>, _end: &Sender<()>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match io::Read::take(&mut output, LONGEST_LINE as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => lock(words).push(&String::from_utf8_lossy(&line)),
        }
    }
}

/// Beginning and end of a canary's output.
#[derive(Debug, Default)]
struct Words {
    head: String,
    tail: String,
    /// True if output between the beginning and the end was dropped.
    is_cut: bool,
}

impl Words {
    fn push(&mut self, line: &str) {
        if !self.is_cut && self.tail.is_empty() && self.head.len() + line.len() <= EXCERPT {
            return self.head.push_str(line);
        }
        self.tail.push_str(line);
        let surplus = self.tail.len().saturating_sub(EXCERPT);
        if surplus != 0 {
            self.is_cut = true;
            let cut = (surplus..=self.tail.len()).find(|at| self.tail.is_char_boundary(*at)).unwrap_or(0);
            self.tail.drain(..cut);
        }
    }

    /// Formats the output for the end of an error message. Returns an empty string if the output is empty.
    fn excerpt(&self) -> String {
        let cut = if self.is_cut { "\n…\n" } else { "" };
        let whole = format!("{}{cut}{}", self.head, self.tail);
        let whole = printable(&whole);
        let lines: Vec<_> = whole.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { String::new() } else { format!("; it had printed:\n    {}", lines.join("\n    ")) }
    }
}

/// Converts an [`End`] to a result. `names` are the modules of the canary. `output` is appended to error messages.
fn end_of(
    end: End,
    program: &Path,
    names: &[String],
    course: &Course,
    deadline: Duration,
    output: String,
) -> Result<(), LoadError> {
    let unavailable = |how: String| LoadError::CanaryUnavailable {
        program: PathBuf::from(program),
        reason: format!("{how} before its first message, so its main does not begin with `run_if_child()`{output}"),
    };
    let (at, step) = course.at.unwrap_or((0, CanaryStep::Mapping));
    let module = names.get(at as usize).cloned().unwrap_or_else(|| "the first module".to_owned());
    Err(match (end, course.is_here) {
        (End::Done, _) => return Ok(()),
        (End::Refused(text), false) => unavailable(text),
        (End::Refused(text), true) => LoadError::CanaryRefused { module, step, text },
        (End::Exited(status), false) => unavailable(format!("it ended ({})", in_words(status))),
        (End::Exited(status), true) => {
            LoadError::CanaryCrashed { module, step, signal: status.and_then(signal), how: in_words(status), output }
        }
        (End::Silent, false) => unavailable(format!("it sent nothing for {deadline:?}")),
        (End::Silent, true) => LoadError::CanaryHung { module, step, after: deadline, output },
        (End::Disturbed(problem), false) => unavailable(problem),
        (End::Disturbed(problem), true) => LoadError::CanaryDisturbed { module, step, problem, output },
    })
}

fn in_words(status: Option<ExitStatus>) -> String {
    let unknown = || "exit status unknown, since the host ignores `SIGCHLD` or waits for every child".to_owned();
    status.map_or_else(unknown, |status| status.to_string())
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
mod tests {
    use super::{EXCERPT, Words};

    #[cfg(unix)]
    #[test]
    fn a_refusal_is_read_though_another_process_keeps_the_socket_open() {
        use std::io::Write as _;

        use super::{Course, End, Message, Token, last_words};
        use crate::load::canary::protocol::Speaker;
        use crate::load::canary::wire::tests::ends;

        let (mut wire, mut theirs) = ends();
        let mut speaker = Speaker::new(Token(3));
        for message in [Message::Here, Message::Refused("its layout differs".to_owned())] {
            theirs.write_all(&speaker.frame(1, &message).expect("it fits")).expect("it is open");
        }
        let end = last_words(&mut Course::new(1), &mut wire, End::Silent);
        assert!(matches!(&end, End::Refused(text) if text == "its layout differs"), "{end:?}");
    }

    #[cfg(unix)]
    #[test]
    fn an_exit_is_seen_though_other_code_waited_for_the_process() {
        use std::process::Command;
        use std::time::{Duration, Instant};

        use rustix::process::{Pid, WaitOptions, waitpid};

        use super::{Course, End, watch};
        use crate::load::canary::wire::tests::ends;

        let (mut wire, theirs) = ends();
        drop(theirs);
        let mut child = Command::new("true").spawn().expect("every system has it");
        waitpid(Some(Pid::from_child(&child)), WaitOptions::empty()).expect("it is a child of this process");
        let until = Instant::now() + Duration::from_secs(60);
        assert_eq!(watch(&mut Course::new(1), &mut wire, &mut child, until), End::Exited(None));
    }

    #[cfg(unix)]
    #[test]
    fn a_canary_has_ended_when_it_is_dropped() {
        use std::process::Command;

        use rustix::process::{Pid, WaitOptions, waitpid};

        use super::Leashed;

        let child = Command::new("sleep").arg("60").spawn().expect("every system has it");
        let process = Pid::from_child(&child);
        drop(Leashed(child));
        assert!(waitpid(Some(process), WaitOptions::NOHANG).is_err(), "no such child remains");
    }

    #[cfg(unix)]
    #[test]
    fn a_canary_ends_before_its_socket_if_its_request_cannot_be_sent() {
        use std::ffi::OsString;
        use std::io::Read as _;
        use std::process::Command;
        use std::time::Duration;

        use rustix::process::{Pid, test_kill_process};

        use super::{Leashed, LoadError, Printed, Started};
        use crate::load::canary::protocol::Candidate;
        use crate::load::canary::wire::tests::ends;

        let (wire, mut theirs) = ends();
        let (output, _writer) = std::io::pipe().expect("a pipe");
        let child = Command::new("sleep").arg("60").spawn().expect("every system has it");
        let process = Pid::from_child(&child);
        let canary = std::thread::spawn(move || {
            let end = theirs.read(&mut [0]).expect("the end of the socket");
            (end, test_kill_process(process).is_err())
        });
        let printed = Printed::of(output).expect("a thread");
        let started = Started { program: "canary".into(), child: Leashed(child), wire, printed };
        let candidate = Candidate { name: "x".repeat(1 << 20), path: OsString::new(), refuses_undeclared: false };
        let refused = started.run(vec![candidate], Duration::from_secs(60));
        assert!(matches!(refused, Err(LoadError::CanaryUnavailable { .. })), "{refused:?}");
        assert_eq!(canary.join().expect("it waits"), (0, true), "the process has ended");
    }

    #[test]
    fn only_the_beginning_and_end_of_the_output_are_kept() {
        let mut printed = Words::default();
        printed.push("thread panicked\n");
        (0..EXCERPT).for_each(|_| printed.push("é hello\n"));
        printed.push("aborting\n");
        let excerpt = printed.excerpt();
        assert!(excerpt.len() < 4 * EXCERPT && excerpt.contains("\n    …\n"), "{excerpt}");
        assert!(
            excerpt.starts_with("; it had printed:\n    thread panicked\n") && excerpt.ends_with("aborting"),
            "{excerpt}"
        );
    }

    #[test]
    fn output_follows_the_sentence_without_empty_lines() {
        let check = |lines: &[&str], expected: &str| {
            let mut printed = Words::default();
            lines.iter().for_each(|line| printed.push(line));
            assert_eq!(printed.excerpt(), expected);
        };
        check(&["\n", "\n"], "");
        check(&["one\n", "\n", "two\n"], "; it had printed:\n    one\n    two");
        check(&["\u{1b}[2Jgone\n"], "; it had printed:\n    \\u{1b}[2Jgone");
    }
}
