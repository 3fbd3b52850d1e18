//! The host's side of a canary: starts it, hears it out, and puts into words what became of it. Whatever a module does
//! to its process, the wait has an end.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader, PipeReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::CanaryStep;
use super::protocol::{ARGUMENT, Answer, Mark, ask};
use crate::load::error::LoadError;

/// So much of what a canary prints first and last is told with its end: the message of a panic comes before the rest.
const TOLD: usize = 1000;
/// So much of one line is read at once: a module may print without any line break.
const LONGEST_LINE: usize = 8000;
/// How often is looked whether a canary has ended whose output somebody else keeps open.
const GLANCE: Duration = Duration::from_millis(50);
/// For how long the last words of an ended canary are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How it ended.
#[derive(Debug)]
enum End {
    Done,
    Refused(String),
    Died(ExitStatus),
    Silent,
}

/// Has `program` load the candidates, name and copy each.
///
/// # Errors
/// What became of the canary, with the module that was at fault.
pub(super) fn run(program: &Path, candidates: &[(&str, &Path)], deadline: Duration) -> Result<(), LoadError> {
    let until = Instant::now() + deadline;
    let unavailable = |reason: String| LoadError::CanaryUnavailable { program: program.to_owned(), reason };
    let number = RandomState::new().build_hasher().finish();
    let (mut child, output) = start(program).map_err(|error| unavailable(error.to_string()))?;
    let mark = Mark::new(number);
    let (sender, lines) = unbounded();
    let reader = std::thread::Builder::new().name("alcedo-canary".to_owned());
    let reading = reader.spawn(move || read(output, &sender));
    // Its input stays open until it is ended: a canary ends itself when nobody is there any more.
    let asked = child.0.stdin.as_mut().ok_or_else(|| io::ErrorKind::BrokenPipe.into()).and_then(|input| {
        match ask(input, number, candidates) {
            // It has ended already; why is what its exit code tells.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            asked => asked,
        }
    });
    if let Err(error) = asked.and_then(|()| reading.map(drop)) {
        return Err(unavailable(error.to_string()));
    }
    let mut heard = Heard { mark, at: None, printed: Printed::default() };
    let end = heard.out(&mut child.0, &lines, until).map_err(|error| unavailable(error.to_string()))?;
    drop(child);
    heard.verdict(end, candidates, deadline, program)
}

/// A canary that does not outlive the wait for it.
struct Leashed(Child);

impl Drop for Leashed {
    fn drop(&mut self) {
        // One that has ended needs no end, and one that was killed is waited for without fail.
        let _ended = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn start(program: &Path) -> io::Result<(Leashed, PipeReader)> {
    let (output, writer) = io::pipe()?;
    let mut command = Command::new(program);
    // The message of a panic names its place; a backtrace would only bury it.
    command.env("RUST_BACKTRACE", "0");
    command.arg(ARGUMENT).stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
    // The command holds the ends that the child got; they close with it, or the output would never end.
    Ok((Leashed(command.spawn()?), output))
}

/// Reads until nobody can write any more, or nobody listens.
fn read(output: PipeReader, lines: &Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match io::Read::take(&mut output, LONGEST_LINE as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() => return,
            Ok(_) => {}
        }
    }
}

/// What a canary has said so far.
struct Heard {
    mark: Mark,
    /// The module and step it is at; none before its first word.
    at: Option<Option<(usize, CanaryStep)>>,
    /// What it printed, besides answers.
    printed: Printed,
}

/// The beginning and the end of what was printed.
#[derive(Debug, Default)]
struct Printed {
    head: String,
    tail: String,
    /// Whether there was something between the two.
    is_cut: bool,
}

impl Printed {
    fn push(&mut self, line: &str) {
        if !self.is_cut && self.tail.is_empty() && self.head.len() + line.len() <= TOLD {
            return self.head.push_str(line);
        }
        self.tail.push_str(line);
        let surplus = self.tail.len().saturating_sub(TOLD);
        if surplus != 0 {
            self.is_cut = true;
            let cut = (surplus..=self.tail.len()).find(|at| self.tail.is_char_boundary(*at)).unwrap_or(0);
            self.tail.drain(..cut);
        }
    }

    /// As the end of a sentence; empty when there is nothing to read.
    fn told(&self) -> String {
        let cut = if self.is_cut { "\n…\n" } else { "" };
        let whole = format!("{}{cut}{}", self.head, self.tail);
        let lines: Vec<_> = whole.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("; it had printed:\n    {}", lines.join("\n    ")),
        }
    }
}

impl Heard {
    /// Hears a canary out.
    fn out(&mut self, child: &mut Child, lines: &Receiver<String>, until: Instant) -> io::Result<End> {
        loop {
            let patience = until.saturating_duration_since(Instant::now());
            match lines.recv_timeout(patience.min(GLANCE)) {
                Ok(line) => {
                    if let Some(end) = self.line(&line) {
                        return Ok(end);
                    }
                }
                Err(RecvTimeoutError::Timeout) if patience.is_zero() => return Ok(End::Silent),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(status) = child.try_wait()? {
                        return Ok(self.last_words(lines, End::Died(status)));
                    }
                }
                // The output is closed by the end of the process, or by a module, and then it may go on for long.
                Err(RecvTimeoutError::Disconnected) => match child.try_wait()? {
                    Some(status) => return Ok(End::Died(status)),
                    None if patience.is_zero() => return Ok(End::Silent),
                    None => std::thread::sleep(Duration::from_millis(1)),
                },
            }
        }
    }

    /// Takes a line; the end, if it tells of one.
    fn line(&mut self, line: &str) -> Option<End> {
        match self.mark.answer(line.trim_end_matches('\n')) {
            Some(Answer::Here) => self.at = Some(None),
            Some(Answer::Begins(module, step)) => self.at = Some(Some((module, step))),
            Some(Answer::Done) => return Some(End::Done),
            Some(Answer::Refused(text)) => return Some(End::Refused(text)),
            None => self.printed.push(line),
        }
        None
    }

    /// The process has ended, but somebody keeps its output open: what was said before is read all the same.
    fn last_words(&mut self, lines: &Receiver<String>, end: End) -> End {
        while let Ok(line) = lines.recv_timeout(LAST_WORDS) {
            if let Some(end) = self.line(&line) {
                return end;
            }
        }
        end
    }

    fn verdict(
        self,
        end: End,
        candidates: &[(&str, &Path)],
        deadline: Duration,
        program: &Path,
    ) -> Result<(), LoadError> {
        let output = self.printed.told();
        let unavailable = |how: String| LoadError::CanaryUnavailable {
            program: program.to_owned(),
            reason: format!("{how} before it said a word, so its main does not begin with `run_if_child()`{output}"),
        };
        let Some(at) = self.at else {
            return match end {
                End::Done => Ok(()),
                End::Refused(text) => Err(unavailable(text)),
                End::Died(status) => Err(unavailable(format!("it ended ({status})"))),
                End::Silent => Err(unavailable(format!("it was there for {deadline:?}"))),
            };
        };
        let named = at.and_then(|(module, step)| Some((candidates.get(module)?.0.to_owned(), step)));
        let (module, step) = named.unwrap_or_else(|| ("the first module".to_owned(), CanaryStep::Mapping));
        match end {
            End::Done => Ok(()),
            End::Refused(text) => Err(LoadError::CanaryRefused { module, step, text }),
            End::Died(status) => {
                Err(LoadError::CanaryCrashed { module, step, signal: signal(status), how: status.to_string(), output })
            }
            End::Silent => Err(LoadError::CanaryHung { module, step, after: deadline, output }),
        }
    }
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
    use super::{End, Heard, Printed, TOLD};
    use crate::load::canary::protocol::{Answer, Mark};

    #[test]
    fn only_the_beginning_and_the_end_of_what_was_printed_are_kept() {
        let mut printed = Printed::default();
        printed.push("thread panicked\n");
        (0..TOLD).for_each(|_| printed.push("é hello\n"));
        printed.push("aborting\n");
        let told = printed.told();
        assert!(told.len() < 4 * TOLD && told.contains("\n    …\n"), "{told}");
        assert!(told.starts_with("; it had printed:\n    thread panicked\n") && told.ends_with("aborting"), "{told}");
    }

    #[test]
    fn what_was_printed_follows_the_sentence_without_empty_lines() {
        let check = |lines: &[&str], expected: &str| {
            let mut printed = Printed::default();
            lines.iter().for_each(|line| printed.push(line));
            assert_eq!(printed.told(), expected);
        };
        check(&["\n", "\n"], "");
        check(&["one\n", "\n", "two\n"], "; it had printed:\n    one\n    two");
    }

    #[test]
    fn an_answer_is_not_printed() {
        let mark = Mark::new(3);
        let mut heard = Heard { mark: mark.clone(), at: None, printed: Printed::default() };
        let here = mark.line(&Answer::Here);
        assert!(here.lines().all(|line| heard.line(line).is_none()));
        assert_eq!((heard.at, heard.printed.told()), (Some(None), String::new()));
        assert!(matches!(heard.line(mark.line(&Answer::Done).trim_start()), Some(End::Done)));
    }
}
