//! Runs the host of a row as a process of its own, to its end, whatever that is.

use super::outcome::{End, Heard, Outcome};
use super::plan::{Plan, Said};
use anyhow::{Context, Result};
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// What the process is given beside its plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    /// A folder of its own.
    pub(crate) dir: &'a Path,
    /// Whether a panic tells how it came about.
    pub(crate) backtrace: bool,
    /// How long it may say nothing.
    pub(crate) patience: Duration,
}

/// Runs the host of `plan`.
///
/// # Errors
/// When it could not be started or ended. What becomes of it by itself is in the outcome.
pub(crate) fn run(plan: &Plan, surroundings: Surroundings<'_>) -> Result<Outcome> {
    let Surroundings { dir, backtrace, patience } = surroundings;
    let path = dir.join("plan.json");
    fs::write(&path, serde_json::to_vec(plan)?).with_context(|| format!("could not write {}", path.display()))?;
    let scratch = dir.join("scratch");
    fs::create_dir_all(&scratch).with_context(|| format!("could not make {}", scratch.display()))?;

    let program = env::current_exe().context("could not find this program to start it as the host")?;
    let mut command = Command::new(program);
    command.arg("--child").arg(&path).env("TMPDIR", &scratch).stdin(Stdio::null()).stdout(Stdio::piped());
    // The number of threads must not depend on the machine.
    for count in ["ASYNC_STD_THREAD_COUNT", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS"] {
        command.env(count, "2");
    }
    command.env("RUST_BACKTRACE", if backtrace { "1" } else { "0" });
    let mut child = command.spawn().context("could not start the host")?;
    let lines = lines(&mut child);
    let mut heard = Heard::default();
    let hung = loop {
        match lines.recv_timeout(patience) {
            Ok(said) => heard.hear(said),
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if hung {
        child.kill().context("could not end the host that hangs")?;
    }
    let ended = child.wait().context("could not wait for the host")?;
    let end = match (hung, ended.success()) {
        (true, _) => End::Hung(patience.as_secs()),
        (false, true) => End::Well,
        (false, false) => End::Died(ended.to_string()),
    };
    Ok(heard.outcome(plan.reloads, &end))
}

/// What the child says, read by a thread, so that waiting for it can have an end.
fn lines(child: &mut Child) -> Receiver<Said> {
    let (sender, said) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            // A crate may print too; its lines are not ours.
            let lines = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
            for said in lines.filter_map(|line| serde_json::from_slice::<Said>(&line).ok()) {
                if sender.send(said).is_err() {
                    break;
                }
            }
        });
    }
    said
}
