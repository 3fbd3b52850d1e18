//! Reads the user's commands: keys from a terminal, lines from a pipe, and signals. For each source, a thread waits for input and sends
//! [`Command`]s. `command.rs` parses the input.

use std::io::{BufRead, IsTerminal, stdin, stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use crossterm::event::{Event, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
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
    keys: Arc<Mutex<Keys>>,
    _raw: Option<Raw>,
}

impl Input {
    /// Returns true if keys can be read and a status line can be printed. Both input and output must be a terminal with cursor control.
    pub(crate) fn is_interactive() -> bool {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        stdin().is_terminal() && stdout().is_terminal() && !is_dumb
    }

    /// Reads keys from a terminal if `interactive` is true, otherwise lines. Always handles signals.
    ///
    /// # Errors
    /// Returns the error of the terminal or the operating system.
    pub(crate) fn open(interactive: bool) -> Result<Self, Error> {
        let (sender, receiver) = unbounded();
        let quitting = Arc::new(AtomicBool::new(false));
        read_signals(&sender, &quitting)?;
        let raw = if interactive { Some(Raw::enter()?) } else { None };
        let keys = Arc::new(Mutex::new(Keys::default()));
        let pressed = Arc::clone(&keys);
        match interactive {
            true => thread::spawn(move || read_keys(&sender, &quitting, &pressed)),
            false => thread::spawn(move || read_lines(stdin().lock(), &sender)),
        };
        Ok(Self { receiver, keys, _raw: raw })
    }

    /// Handles only signals, for a command that reads no input.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn signals() -> Result<Self, Error> {
        let (sender, receiver) = unbounded();
        read_signals(&sender, &Arc::default())?;
        Ok(Self { receiver, keys: Arc::default(), _raw: None })
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

fn read_signals(sender: &Sender<ParsedCommand>, quitting: &Arc<AtomicBool>) -> Result<(), Error> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(terminal("listen for Ctrl-C"))?;
    let (sender, quitting) = (sender.clone(), Arc::clone(quitting));
    thread::spawn(move || signals.forever().for_each(|_| quit(&sender, &quitting)));
    Ok(())
}

/// Sends the first request to quit to the game thread. A second request exits the process immediately, because the game thread may be stuck
/// in a plugin.
fn quit(sender: &Sender<ParsedCommand>, quitting: &AtomicBool) {
    if quitting.swap(true, Ordering::Relaxed) {
        release_terminal();
        let _ = disable_raw_mode();
        std::process::exit(130);
    }
    let _ = sender.send(Ok(Command::Quit));
}

fn read_keys(sender: &Sender<ParsedCommand>, quitting: &AtomicBool, keys: &Mutex<Keys>) {
    while let Ok(event) = read() {
        let Event::Key(key) = event else { continue };
        let Some(command) = lock(keys).press(key) else { continue };
        if command == Command::Quit {
            quit(sender, quitting);
        } else if sender.send(Ok(command)).is_err() {
            return;
        }
    }
    // Reached if the terminal was closed.
    quit(sender, quitting);
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
