//! Requests to quit: signals, their receiver, and the immediate exit after a second request, which restores the terminal and kills hosts.

use std::fs;
use std::io::stdin;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use rustix::fd::OwnedFd;
use rustix::process::{Signal, getpgrp, pidfd_send_signal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::ParsedCommand;
use crate::command::Command;
use crate::error::{Error, terminal};
use crate::lock;
use crate::screen::release_terminal;

/// Receives the next request to quit. `None` after a signal or key has requested to quit, so that a second request exits the process.
pub(super) static LISTENER: Mutex<Option<Sender<ParsedCommand>>> = Mutex::new(None);

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
pub(super) fn quit() {
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
