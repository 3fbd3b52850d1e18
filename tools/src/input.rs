//! Reads the user's commands: keys from a terminal, lines from a pipe, and signals. For each source, a thread waits for input and sends
//! [`Command`]s. `command.rs` parses the input. A [`Stop`] receives requests to quit during a wait for another process.

use std::fs;
use std::io::{BufRead, IsTerminal, stdin, stdout};
use std::panic;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use crossterm::event::{Event, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::fd::OwnedFd;
use rustix::process::{Signal, getpgrp, pidfd_send_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::command::{Command, Keys, Typed, parse};
use crate::error::{Error, terminal};
use crate::lock;
use crate::screen::release_terminal;

pub(crate) type ParsedCommand = Result<Command, String>;

/// Receives the user's commands. While reading keys, keeps the terminal in raw mode.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) receiver: Receiver<ParsedCommand>,
    sender: Sender<ParsedCommand>,
    keys: Arc<Mutex<Keys>>,
    _raw: Option<Raw>,
}

impl Input {
    /// Returns true if keys can be read and a status line can be printed. Both input and output must be a terminal with cursor control.
    pub(crate) fn is_interactive() -> bool {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        stdin().is_terminal() && stdout().is_terminal() && !is_dumb
    }

    /// Starts to receive signals. Keys and lines are received only after a call of [`Input::read`].
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn signals() -> Result<Self, Error> {
        let (sender, receiver) = unbounded();
        handle_signals()?;
        *lock(&LISTENER) = Some(sender.clone());
        Ok(Self { receiver, sender, keys: Arc::default(), _raw: None })
    }

    /// Starts to read keys from a terminal if `interactive` is true, otherwise lines.
    ///
    /// # Errors
    /// Returns the error of the terminal.
    pub(crate) fn read(mut self, interactive: bool) -> Result<Self, Error> {
        let (sender, keys) = (self.sender.clone(), Arc::clone(&self.keys));
        if interactive {
            self._raw = Some(Raw::enter()?);
            thread::spawn(move || read_keys(&sender, &keys));
        } else {
            thread::spawn(move || read_lines(stdin().lock(), &sender));
        }
        Ok(self)
    }

    /// Replaces the typed line `line` by its completion `longer`, if the user has not changed the line since the completion was requested.
    /// Returns the new input.
    pub(crate) fn extend_line(&self, line: &str, longer: &str) -> Option<Typed> {
        lock(&self.keys).extend_line(line, longer)
    }
}

/// Keeps the terminal in raw mode. Dropping this value restores the mode. A panic hook leaves raw mode before the panic message is printed,
/// so that the message is readable.
#[derive(Debug)]
struct Raw;

impl Raw {
    fn enter() -> Result<Self, Error> {
        enable_raw_mode().map_err(terminal("read single keys of the terminal"))?;
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            release_terminal();
            let _ = disable_raw_mode();
            report(info);
        }));
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Ignores the error, because a destructor cannot report it.
        let _ = disable_raw_mode();
    }
}

/// Receives the next request to quit. `None` after a signal or key has requested to quit, so that a second request exits the process.
static LISTENER: Mutex<Option<Sender<ParsedCommand>>> = Mutex::new(None);

/// Receives requests to quit in place of the session during a wait for another process. Outside of a session, a signal exits the process
/// immediately if no `Stop` exists.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) receiver: Receiver<ParsedCommand>,
    before: Option<Sender<ParsedCommand>>,
}

impl Stop {
    /// Starts to receive requests to quit.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn new() -> Result<Self, Error> {
        handle_signals()?;
        let (sender, receiver) = unbounded();
        Ok(Self { receiver, before: lock(&LISTENER).replace(sender) })
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        *lock(&LISTENER) = self.before.take();
        // Forwards a request that arrived at the end of the wait.
        if !self.receiver.is_empty() {
            quit();
        }
    }
}

/// Mode of the terminal at standard input. `None` if standard input is not a terminal.
pub(crate) struct TerminalMode(Option<Termios>);

impl TerminalMode {
    pub(crate) fn of_stdin() -> Self {
        Self(tcgetattr(stdin()).ok())
    }

    /// Restores the mode. Has no effect in the background, because the system stops a background process that changes its terminal.
    pub(crate) fn restore(&self) {
        let is_in_background = tcgetpgrp(stdin()).is_ok_and(|group| group != getpgrp());
        if let Self(Some(mode)) = self
            && !is_in_background
        {
            let _restored = tcsetattr(stdin(), OptionalActions::Now, mode);
        }
    }
}

/// Mode of the terminal before this process reads single keys or edits lines.
static INITIAL_MODE: OnceLock<TerminalMode> = OnceLock::new();

/// Restores the mode that the terminal had when this process began to handle signals.
pub(crate) fn restore_terminal() {
    if let Some(mode) = INITIAL_MODE.get() {
        mode.restore();
    }
}

/// Starts a thread that handles the signals of this process. Later calls have no effect.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn handle_signals() -> Result<(), Error> {
    static IS_STARTED: Mutex<bool> = Mutex::new(false);
    let mut is_started = lock(&IS_STARTED);
    if !*is_started {
        INITIAL_MODE.get_or_init(TerminalMode::of_stdin);
        let handled = [SIGINT, SIGTERM].into_iter().chain((!ignores_hangup()).then_some(SIGHUP));
        let mut signals = Signals::new(handled).map_err(terminal("listen for Ctrl-C"))?;
        thread::spawn(move || signals.forever().for_each(|_| quit()));
        *is_started = true;
    }
    Ok(())
}

/// Returns true if this process was started with an ignored SIGHUP, as by `nohup`.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| (ignored >> (SIGHUP - 1)) & 1 == 1)
}

/// Hosts that an immediate exit of this process kills.
static KILLED_AT_EXIT: Mutex<Vec<Weak<OwnedFd>>> = Mutex::new(Vec::new());

/// Kills a host if this process exits immediately. Used until the host has connected, because only a connected host detects this exit.
pub(crate) fn kill_at_exit(process: &Arc<OwnedFd>) {
    let mut killed = lock(&KILLED_AT_EXIT);
    killed.retain(|other| other.strong_count() > 0);
    killed.push(Arc::downgrade(process));
}

/// Reverts [`kill_at_exit`].
pub(crate) fn spare_at_exit(process: &Weak<OwnedFd>) {
    lock(&KILLED_AT_EXIT).retain(|other| !other.ptr_eq(process));
}

/// Sends the first request to quit to the game thread. A second request exits the process immediately, because the game thread may be stuck
/// in a plugin.
fn quit() {
    let Some(listener) = lock(&LISTENER).take() else {
        for process in lock(&KILLED_AT_EXIT).iter().filter_map(Weak::upgrade) {
            // Ignores the error that occurs if the host has ended.
            let _sent = pidfd_send_signal(process, Signal::KILL);
        }
        release_terminal();
        restore_terminal();
        std::process::exit(130);
    };
    let _ = listener.send(Ok(Command::Quit));
}

fn read_keys(sender: &Sender<ParsedCommand>, keys: &Mutex<Keys>) {
    while let Ok(event) = read() {
        let Event::Key(key) = event else { continue };
        let Some(command) = lock(keys).press(key) else { continue };
        if command == Command::Quit {
            quit();
        } else if sender.send(Ok(command)).is_err() {
            return;
        }
    }
    // Reached if the terminal was closed. Does not call `quit`: a signal also calls `quit`, and a second call would exit without an orderly
    // end.
    let _ = sender.send(Ok(Command::Quit));
}

/// Reads commands from lines. At the end of the input, requests to quit, because the process that controls this session has closed the
/// pipe.
fn read_lines(from: impl BufRead, sender: &Sender<ParsedCommand>) {
    // Replaces bytes that are not UTF-8, so that an error message can contain the line.
    let lines = from.split(b'\n').map_while(Result::ok).map(|line| String::from_utf8_lossy(&line).into_owned());
    for command in lines.filter_map(|line| parse(&line).transpose()) {
        if sender.send(command).is_err() {
            return;
        }
    }
    let _ = sender.send(Ok(Command::Quit));
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::unbounded;

    use super::{Command, ParsedCommand, read_lines};

    #[test]
    fn a_line_that_is_not_utf8_does_not_end_the_session() {
        let (sender, receiver) = unbounded();
        read_lines(&b"s\n\xff\nr\r\n"[..], &sender);
        let commands: Vec<_> = receiver.try_iter().collect();
        let expected: [ParsedCommand; 3] = [Ok(Command::Status), Ok(Command::Reload), Ok(Command::Quit)];
        assert_eq!([&commands[..1], &commands[2..]].concat(), expected);
        assert!(commands[1].is_err(), "{commands:?}");
    }
}
