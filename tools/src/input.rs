//! Reads the user's commands: keys from a terminal, lines from a pipe, and signals. For each source, a thread waits for input and sends
//! [`Command`]s. `command.rs` parses the input. A [`Stop`] receives requests to quit during a wait for another process.

mod quit;

use std::io::{BufRead, IsTerminal, stdin, stdout};
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use crossterm::event::{Event, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use self::quit::{LISTENER, quit};
pub(crate) use self::quit::{Stop, TerminalMode, handle_signals, kill_at_exit, restore_terminal, spare_at_exit};
use crate::command::{Command, Keys, parse};
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

    /// Returns the state of the keyboard input.
    pub(crate) fn keys(&self) -> MutexGuard<'_, Keys> {
        lock(&self.keys)
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
