//! Runs a host in a separate process. The parent writes a plan. The host reads this plan, and writes lines to its standard output, which
//! the parent reads while the host runs.

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Reason why the process of a host has ended.
#[derive(Debug)]
pub(crate) enum End {
    /// A normal exit with success.
    Success,
    /// Any other end. Contains the status of the process, such as `signal: 11 (SIGSEGV)`.
    Crashed(String),
    /// Killed after this number of seconds without output.
    Hung(u64),
}

/// Writes the plan to `dir`. Returns the command that runs this program as a host that executes the plan. `under` is a command prefix, for
/// example of a debugger.
pub(crate) fn command(plan: &impl Serialize, dir: &Path, under: &str) -> Result<Command> {
    let path = dir.join("plan.json");
    fs::write(&path, serde_json::to_vec(plan)?).with_context(|| format!("could not write {}", path.display()))?;
    let program = env::current_exe().context("could not find this program to start it as the host")?;
    let mut parts = under.split_whitespace().map(OsString::from).chain([program.into_os_string()]);
    let mut command = Command::new(parts.next().unwrap_or_default());
    command.args(parts).arg("--child").arg(&path).stdin(Stdio::null()).stdout(Stdio::piped());
    Ok(command)
}

/// Runs a host until it exits, and calls `on_line` with each line of its output.
///
/// # Errors
/// Fails if the process cannot be started or ended.
pub(crate) fn run(mut command: Command, patience: Duration, mut on_line: impl FnMut(&str)) -> Result<End> {
    let mut child = command.spawn().context("could not start the host")?;
    let (sender, lines) = mpsc::channel();
    let stdout = child.stdout.take();
    // Reads on a separate thread, because reading a line has no time limit.
    thread::spawn(move || {
        let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).split(b'\n').map_while(Result::ok));
        lines.map(|line| String::from_utf8_lossy(&line).into_owned()).try_for_each(|line| sender.send(line))
    });
    let hangs = loop {
        match lines.recv_timeout(patience) {
            Ok(line) => on_line(&line),
            Err(error) => break error == RecvTimeoutError::Timeout,
        }
    };
    if hangs {
        child.kill().context("could not end the host that hangs")?;
    }
    let ended = child.wait().context("could not wait for the host")?;
    Ok(match (hangs, ended.success()) {
        (true, _) => End::Hung(patience.as_secs()),
        (false, true) => End::Success,
        (false, false) => End::Crashed(ended.to_string()),
    })
}

pub(crate) fn plan<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read(path).with_context(|| format!("could not read the plan {}", path.display()))?;
    serde_json::from_slice(&text).context("the plan is of another version of this program")
}

/// Writes a line to the parent, and flushes the output, because the host may crash in its next step.
pub(crate) fn send_line(line: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).context("the reader is gone")
}
