//! Queries the declarations of a host. The host is started with an environment variable that names a file, writes its declarations to this
//! file, and exits. If the host does not support this query, hangs or crashes, the query fails with a hint.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::answer::{Answered, REQUEST, SCRIPTS, read};
use alcedo_runtime::development::link::SOCKET;
use alcedo_runtime::development::plain_file;
use alcedo_runtime::printable;
use alcedo_runtime::{Declared, ScriptCheck};
use anyhow::{anyhow, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::error::Error;
use crate::input::Stop;
use crate::world::HostProgram;

/// Polling interval for a running host.
const GLANCE: Duration = Duration::from_millis(10);
/// Maximum length of the part of the host's output that an error contains.
const LONGEST_TAIL: usize = 2000;

/// Maximum number of bytes read from the host's output.
const LARGEST: u64 = 1 << 28;

/// Starts the host and returns its declarations. The host must respond within `patience`.
///
/// # Errors
/// Fails if the host cannot be started, hangs, crashes, or writes no declarations. In each case, all processes of the host's group are
/// killed.
pub(crate) fn declarations_of_host(host: &HostProgram, patience: Duration) -> Result<Declared, Error> {
    answered(host, &[], patience).map(|answered| answered.declared)
}

/// Starts the host, and returns the errors and declarations that the host finds in the packages of scripts in `folders`.
///
/// # Errors
/// Returns the errors of [`declarations_of_host`]. Also fails if the host does not support scripts.
pub(crate) fn script_declarations(
    host: &HostProgram,
    folders: &[PathBuf],
    patience: Duration,
) -> Result<Vec<ScriptCheck>, Error> {
    let answered = answered(host, folders, patience)?;
    answered.scripts.ok_or_else(|| {
        let program = host.program.display();
        anyhow!("the host {program} does not support scripts: enable the feature `script` of alcedo in its Cargo.toml")
    })
}

fn answered(program: &HostProgram, folders: &[PathBuf], patience: Duration) -> Result<Answered, Error> {
    let HostProgram { program, args } = program;
    let host = program.display();
    let files = |source| {
        anyhow!(
            "the answer of the host {host} cannot be received: {source}; check that the folder for temporary files is writable"
        )
    };
    // Kills the host before this process ends, because the host runs in a separate process group.
    let stop = Stop::new()?;
    let folder = tempfile::tempdir().map_err(files)?;
    let (answer, stderr_file) = (folder.path().join("answer"), folder.path().join("stderr"));
    let mut command = Command::new(program);
    command.args(args).env(REQUEST, &answer).env_remove(SOCKET).env_remove(SCRIPTS);
    if !folders.is_empty() {
        let joined = std::env::join_paths(folders).map_err(|error| {
            anyhow!(
                "the host {host} cannot be queried for the scripts: {error}; rename the folder that contains this character"
            )
        })?;
        command.env(SCRIPTS, joined);
    }
    // Uses a file instead of a pipe, because child processes of the host may keep a pipe open.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&stderr_file).map_err(files)?);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().map_err(|source| {
        anyhow!("the host {host} cannot be started: {source}; build it and name its program, as in `--host ./target/debug/my-host`")
    })?;
    let status = wait(child, patience, &stop).map_err(files)?;
    match read(&answer) {
        Ok(Some(answered)) => return Ok(answered),
        Ok(None) => {}
        Err(source) => bail!("the host {host} was queried for its native types: {source}"),
    }
    let tail = output_tail(&stderr_file);
    Err(match status {
        None => anyhow!(
            "the host {host} was queried for its native types, had not answered after {} s, and was ended: it answers in `Builder::build`; \
             call `.answer_glue()` on its builder at the start of `main`, or give it more time by `alcedo glue --host` or `alcedo check \
             --host` with `--patience`{tail}",
            patience.as_secs()
        ),
        Some(status) if status.code().is_none() => anyhow!(
            "the host {host} was queried for its native types and crashed before it answered ({status}): run it with `alcedo guard` to see \
             where, or call `.answer_glue()` on its builder at the start of `main`, before what crashes{tail}"
        ),
        Some(status) => anyhow!(
            "the host {host} was queried for its native types and ended without an answer ({status}): it answers in `Builder::build`, so \
             it has to come that far without plugins, a window or arguments; give it what it needs with `--host-arg`, or call \
             `.answer_glue()` on its builder at the start of `main`{tail}"
        ),
    })
}

/// Waits for the host to exit, at most `patience` and until a request to quit. Returns `None` if the host did not exit within this time.
/// Always kills the process group of the host.
fn wait(mut child: Child, patience: Duration, stop: &Stop) -> io::Result<Option<ExitStatus>> {
    let (process, begun) = (Pid::from_child(&child), Instant::now());
    let has_ended = loop {
        match has_ended(process) {
            Ok(false) if begun.elapsed() < patience && stop.receiver.is_empty() => thread::sleep(GLANCE),
            other => break other,
        }
    };
    // Kills the group before the process is reaped, because the process id may belong to another process afterwards. Ignores an error,
    // because the processes may have exited already.
    let _ = kill_process_group(process, Signal::KILL);
    let status = child.wait()?;
    Ok(has_ended?.then_some(status))
}

/// Returns true if the process has exited. Does not reap the process, so its id remains valid.
fn has_ended(process: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(process), options)?.is_some())
}

/// Returns the last part of the host's standard error output.
fn output_tail(file: &Path) -> String {
    let tail = plain_file::read(file, LARGEST).unwrap_or_default();
    let tail = String::from_utf8_lossy(&tail[tail.len().saturating_sub(LONGEST_TAIL)..]).trim().to_owned();
    match tail.as_str() {
        "" => String::new(),
        tail => {
            let lines: Vec<_> = tail.lines().map(|line| format!("  {}", printable(line))).collect();
            format!("\nits last words:\n{}", lines.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::script_declarations;
    use crate::world::HostProgram;

    #[test]
    fn a_folder_whose_path_no_list_can_contain_is_reported() {
        let host = HostProgram { program: "/bin/true".into(), args: Vec::new() };
        let error = script_declarations(&host, &["/a:b/Tale".into()], Duration::from_secs(9)).expect_err("no list");
        assert!(error.to_string().contains("separator"), "{error}");
    }
}
