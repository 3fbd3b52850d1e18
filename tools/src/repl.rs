//! `alcedo repl`: evaluates lines of the script language in a running world. A separate thread reads the lines, because the world must be
//! used on the thread that created it. Each line is evaluated before the next line is read.

use std::io::{BufRead as _, ErrorKind, IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use alcedo_runtime::development::link::{FromHost, ToHost};
use alcedo_uc::{Snippet, Source, snippet};
use crossbeam_channel::{Receiver, Sender, bounded, never, select, unbounded};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper, Highlighter, Hinter};
use signal_hook::consts::SIGINT;

use crate::args::{HostArgs, World as WorldArgs};
use crate::error::Error;
use crate::host_program;
use crate::input::{handle_signals, restore_terminal};
use crate::modules;
use crate::modules::BuildOptions;
use crate::paint::{Paint, for_terminal};
use crate::screen::{log_to_stderr, print_error, print_progress, print_result};
use crate::scripts;
use crate::world::{HostOptions, Local, Printed, Remote, Shutdown, World, WorldEvent};

const PROMPT: &str = "> ";
/// Console command that evaluates a source text.
const EVAL: &str = "eval ";

/// Evaluates expressions and statements of the script language in a running world, and completes names.
///
/// `Hero'Hero_1'.Health + 1` is an expression on an object; `Hero'Hero_1'.Health = 5;` is a statement. A line that begins with `:` is
/// a command of the world's console: `:help` lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Modules to load: packages of scripts, folders of plugin crates, which are built, or built libraries.
    #[arg(value_name = "PATH")]
    modules: Vec<PathBuf>,
    #[command(flatten)]
    world: WorldArgs,
    #[command(flatten)]
    host: HostArgs,
}

/// Reads and evaluates lines until the input ends.
///
/// # Errors
/// Fails if the world cannot be started.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let paint = Paint::for_stdout();
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let editor = if stdin().is_terminal() { Terminal::with_config(config).ok() } else { None };
    // Called after the editor has replaced the handler of SIGINT, so that Ctrl-C ends a line that never returns.
    handle_signals()?;
    let found = modules::find(&args.modules)?;
    let packages = args.world.packages.iter().cloned().chain(scripts::valid_names(&found.packages)).collect();
    let (objects, user_code) = (args.world.objects.unwrap_or(1), args.world.code.absolute()?);
    let options = HostOptions { packages, args: Vec::new(), objects, user_code, planted_rerun: false };
    found.left_out().iter().for_each(|line| print_progress(line));
    let mut dirs = found.host_dirs.clone();
    if args.modules.is_empty() && Path::new("Cargo.toml").is_file() {
        dirs.push(PathBuf::from("."));
    }
    let chosen = host_program::choose(args.host.host.as_deref(), &dirs)?;
    let of_host = [("--host-arg", !args.host.host_args.is_empty())];
    host_program::check_options(chosen.as_ref(), &args.world.options(), &of_host)?;
    let (packages, libraries) = found.built()?;
    let modules = [libraries, packages].concat();
    match chosen {
        None => {
            log_to_stderr("info", paint);
            converse(Local::new(&options)?, &modules, editor)
        }
        Some(host) => {
            let program = host.build(&BuildOptions::default(), &args.host.host_args, print_progress)?;
            converse(Remote::start(program, paint)?, &modules, editor)
        }
    }
}

/// Reads lines from a terminal.
type Terminal = Editor<Names, DefaultHistory>;

/// A request from the thread that reads input to the thread of the world.
enum Request {
    /// Evaluate a line. The reading thread waits for this sender, and ends if the sender is dropped without a message.
    Line(String, Sender<()>),
    /// Complete a line.
    Complete(String, Sender<Vec<String>>),
}

/// Evaluates lines until the input ends.
///
/// # Errors
/// Fails if the world ends, or if the host does not connect.
fn converse<W: World>(mut world: W, modules: &[PathBuf], editor: Option<Terminal>) -> Result<ExitCode, Error> {
    let (sender, requests) = unbounded();
    // Started after the world. Until then, the terminal keeps its mode, so that Ctrl-C ends a load that never returns.
    let mut reader = Some(move || match editor {
        Some(editor) => read_terminal(editor, &sender),
        None => read_input(&sender),
    });
    world.request(ToHost::Load { libraries: modules.to_vec() });
    let mut code = ExitCode::SUCCESS;
    let (mut answered, mut completed): (Option<Sender<()>>, Option<Sender<Vec<String>>>) = (None, None);
    let never = never();
    loop {
        let lines: &Receiver<Request> = if answered.is_none() { &requests } else { &never };
        let (events, printed, rest) = (world.events().clone(), world.printed().clone(), world.rest());
        select! {
            recv(lines) -> request => match request {
                Ok(Request::Line(line, done)) => {
                    world.request(ToHost::Line { line: command(&line) });
                    answered = Some(done);
                }
                Ok(Request::Complete(line, to)) => {
                    world.request(ToHost::Complete { line: command(&line) });
                    completed = Some(to);
                }
                Err(_) => break,
            },
            recv(events) -> event => match event {
                Ok(WorldEvent::Host(FromHost::Answer { text }, _)) => {
                    // Prints the output of a call before its result.
                    world.printed().try_iter().for_each(|line| show(&line));
                    print(&text);
                    // Ignores the error, because the reading thread may have ended.
                    let _sent = answered.take().map(|done| done.send(()));
                }
                Ok(WorldEvent::Host(FromHost::Completions { lines, .. }, _)) => {
                    // Ignores the error, because the result is not needed after the reading thread has ended.
                    let _sent = completed.take().map(|to| to.send(lines));
                }
                Ok(WorldEvent::Host(
                    loaded @ (FromHost::Started { .. } | FromHost::Reloaded { .. } | FromHost::Refused { .. }),
                    _,
                )) => {
                    if let FromHost::Refused { error, .. } = loaded {
                        print(&error);
                        code = ExitCode::FAILURE;
                    }
                    let _reading = reader.take().map(thread::spawn);
                }
                Ok(WorldEvent::Panicked(_) | WorldEvent::Populated(_) | WorldEvent::Host(..)) => {}
                ended => {
                    // Prints the host's last lines, which may contain the reason.
                    world.printed().try_iter().for_each(|line| show(&line));
                    // Restores the mode, which the thread that reads lines may have changed.
                    restore_terminal();
                    return Err(Error::msg(match ended {
                        Ok(WorldEvent::NotJoined(error) | WorldEvent::Unreadable(error)) => error,
                        Ok(WorldEvent::Ended(end)) => end.report(Paint::off()),
                        _ => "the host has ended".to_owned(),
                    }));
                }
            },
            recv(printed) -> line => if let Ok(line) = line { show(&line) },
            default(rest) => world.attend(),
        }
    }
    let Shutdown { left, crash } = world.shutdown(&mut show);
    for left in left {
        print(&format!("could not be ended: {left}"));
        code = ExitCode::FAILURE;
    }
    crash.map_or(Ok(code), |end| Err(Error::msg(end.report(Paint::off()))))
}

/// Returns the console command for a line. If the line starts with a colon, the text after the colon is the command. Otherwise, the command
/// evaluates the line. Keeps spaces at the end, because a completion then begins a new word.
fn command(line: &str) -> String {
    match line.trim_start().strip_prefix(':') {
        Some(command) => command.trim_start().to_owned(),
        None => format!("{EVAL}{}", line.trim_start()),
    }
}

/// Returns the offset of the last word in the input `head`, and the candidates for this word. `lines` contains the completions of the
/// console command for `head`.
fn candidates(head: &str, lines: &[String]) -> (usize, Vec<String>) {
    let start = head.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '_').len();
    // The command and the input have different beginnings, and the same last word.
    let word = command(head).len() - (head.len() - start);
    (start, lines.iter().filter_map(|line| line.get(word..)).map(str::to_owned).collect())
}

/// Prints a line of the host's output.
fn show(printed: &Printed) {
    match printed.is_error {
        true => print_error(&printed.line),
        false => print(&for_terminal(&printed.line)),
    }
}

fn print(text: &str) {
    print_result(text.trim_end());
}

/// Reads lines from a pipe.
fn read_input(requests: &Sender<Request>) {
    let mut text = String::new();
    // Replaces bytes that are not UTF-8, so that an error message can contain the line.
    for line in stdin().lock().split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let input = completed(&mut text, line.strip_suffix('\r').unwrap_or(&line));
        if input.is_some_and(|input| !pass_on(requests, &input)) {
            return;
        }
    }
    pass_on(requests, &text);
}

/// Appends a line to `text`. Returns and removes the text if it does not continue on the next line.
fn completed(text: &mut String, line: &str) -> Option<String> {
    text.push_str(line);
    if is_incomplete(text) {
        text.push('\n');
        return None;
    }
    Some(std::mem::take(text))
}

/// Splits pasted lines into inputs that are evaluated one after another. Returns the whole text if it is one expression or a list of
/// statements, or if one of the inputs is invalid. Otherwise, the body of an invalid `if` would be evaluated without its condition.
fn split(pasted: &str) -> Vec<String> {
    let mut text = String::new();
    let mut inputs: Vec<_> = pasted.lines().filter_map(|line| completed(&mut text, line)).collect();
    inputs.push(text);
    if is_valid(pasted) || !inputs.iter().all(|input| is_valid(input)) { vec![pasted.to_owned()] } else { inputs }
}

/// Returns true for an expression, for statements, for a command and for an empty input. A command is a single line that begins with a
/// colon.
fn is_valid(input: &str) -> bool {
    match input.trim() {
        "" => true,
        input if input.starts_with(':') => !input.contains('\n'),
        input => matches!(snippet(&Source::new("", input)), Snippet::Value | Snippet::Statements),
    }
}

/// Returns true if the input continues on the next line, because a brace, a parenthesis or a comment is open.
fn is_incomplete(text: &str) -> bool {
    !text.trim_start().starts_with(':') && matches!(snippet(&Source::new("", text)), Snippet::Unfinished)
}

/// Reads lines from a terminal, with editing, history and completion of names.
fn read_terminal(mut editor: Terminal, requests: &Sender<Request>) {
    editor.set_helper(Some(Names { requests: requests.clone() }));
    let is_signaled = Arc::new(AtomicBool::new(false));
    // Ignores the error, because the handler of signals is already installed.
    let _registered = signal_hook::flag::register(SIGINT, Arc::clone(&is_signaled));
    loop {
        match editor.readline(PROMPT) {
            Ok(lines) if split(&lines).iter().all(|input| pass_on(requests, input)) => {}
            // Waits until the signal ends this process, because a new prompt would enter raw mode. In raw mode, Ctrl-C sends no signal.
            Err(ReadlineError::Interrupted) if is_signaled.load(Ordering::SeqCst) => loop {
                thread::park();
            },
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                print("the input was not UTF-8: type it again");
            }
            Ok(_) | Err(_) => return,
        }
    }
}

/// Sends a line and waits for its result to be printed. Returns false if the world has ended.
fn pass_on(requests: &Sender<Request>, line: &str) -> bool {
    if line.trim().is_empty() {
        return true;
    }
    let (done, wait) = bounded(1);
    requests.send(Request::Line(line.to_owned(), done)).is_ok() && wait.recv().is_ok()
}

/// Completes names of reflected types and members of the world.
#[derive(Helper, Hinter, Highlighter)]
struct Names {
    requests: Sender<Request>,
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_incomplete = is_incomplete(context.input());
        Ok(if is_incomplete { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _context: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (to, lines) = bounded(1);
        let head = &line[..at];
        if self.requests.send(Request::Complete(head.to_owned(), to)).is_err() {
            return Ok((at, Vec::new()));
        }
        Ok(candidates(head, &lines.recv().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::{candidates, command, is_incomplete, split};

    #[test]
    fn input_continues_while_a_construct_is_open() {
        for (text, expected) in
            [("1 + 2", false), ("f(1,", true), ("if (true)\n{", true), ("{ }", false), (":call x f (", false)]
        {
            assert_eq!(is_incomplete(text), expected, "{text}");
        }
    }

    #[test]
    fn pasted_lines_are_separate_unless_they_belong_together() {
        let check = |pasted: &str, expected: &[&str]| {
            let inputs: Vec<_> = split(pasted).into_iter().filter(|input| !input.is_empty()).collect();
            assert_eq!(inputs, expected, "{pasted}");
        };
        check("1 + 2", &["1 + 2"]);
        check("1 + 2\n3 + 4\n", &["1 + 2", "3 + 4"]);
        check("Health = 1;\nHealth", &["Health = 1;", "Health"]);
        check("f(\n1)\n2", &["f(\n1)", "2"]);
        // An invalid statement has no other effect.
        let invalid = "if (Health < 0)\n  Destroy();\nelse\n  Health = ;";
        check(invalid, &[invalid]);
        check("f(\n1)\n)\n2", &["f(\n1)\n)\n2"]);
        check("if (true)\n{\n}\nelse\n{\n}", &["if (true)\n{\n}\nelse\n{\n}"]);
        check(":help\n:objects", &[":help", ":objects"]);
    }

    #[test]
    fn a_line_is_evaluated_unless_a_colon_makes_it_a_command() {
        assert_eq!(command(" 1 + 2 "), "eval 1 + 2 ");
        assert_eq!(command(":objects"), "objects");
    }

    #[test]
    fn a_completion_replaces_the_last_word_of_the_input() {
        let check = |head: &str, line: &str, expected: (usize, &str)| {
            let (start, candidates) = candidates(head, &[line.to_owned()]);
            assert_eq!((start, candidates), (expected.0, vec![expected.1.to_owned()]), "{head}");
        };
        check("1 + he", "eval 1 + Hero", (4, "Hero"));
        check("  he", "eval Hero", (2, "Hero"));
        check("x = ", "eval x = Hero", (4, "Hero"));
        check(":get He", "get Hero_1", (5, "Hero_1"));
        check(":eval he", "eval Hero", (6, "Hero"));
        check(" : ob", "objects", (3, "objects"));
    }
}
