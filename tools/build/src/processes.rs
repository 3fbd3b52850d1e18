//! Processes of a build. Another thread may kill these processes, because `alcedo dev` cancels a build as soon as the sources change again.

use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;

use crate::error::BuildError;
use crate::lock;

/// Processes that a build has started, and files that the build has locked.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    state: Mutex<State>,
    /// Number of crates that the processes have compiled.
    pub(crate) compiled: AtomicUsize,
    /// Set if the processes belong to the process group of the current process, so that Ctrl-C ends them.
    shares_group: bool,
}

#[derive(Debug, Default)]
struct State {
    children: Vec<Child>,
    /// Locked files. A cancellation unlocks these files, because the next build may start before the thread of this build ends.
    locks: Vec<File>,
    is_canceled: bool,
}

impl State {
    /// Unlocks the files before closing them. A process that another thread is starting may have inherited the files, and would keep them
    /// locked.
    fn unlock(&mut self) {
        for file in self.locks.drain(..) {
            let _ = file.unlock();
        }
    }
}

/// Polling interval for a process that has closed its output. A process in this state usually ends very soon.
const POLL: Duration = Duration::from_micros(200);

impl Processes {
    /// Returns the processes of a build that is never canceled.
    pub(crate) fn in_this_group() -> Self {
        Self { shares_group: true, ..Self::default() }
    }

    /// Starts a process with a piped error stream. If the build can be canceled, the process forms a new process group, so that cargo's
    /// compilers can be killed together with cargo. `command_line` identifies the build in errors.
    pub(crate) fn start(
        &self,
        command: &mut Command,
        stdout: Stdio,
        command_line: &str,
    ) -> Result<Started, BuildError> {
        let mut state = lock(&self.state);
        if state.is_canceled {
            return Err(BuildError::Canceled { command: command_line.to_owned() });
        }
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        // On platforms other than Unix, cargo itself ends its compilers when cargo exits.
        #[cfg(unix)]
        if !self.shares_group {
            std::os::unix::process::CommandExt::process_group(command, 0);
        }
        let mut child = command.spawn().map_err(|source| not_run(command, source))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        state.children.push(child);
        Ok(Started { number: state.children.len() - 1, stdout, stderr })
    }

    /// Waits for a process that has closed its output. Returns `None` if the build was canceled.
    pub(crate) fn wait(&self, number: usize) -> io::Result<Option<ExitStatus>> {
        loop {
            let mut state = lock(&self.state);
            // Releases the lock between checks, because a process may close its output and continue to run.
            if let Some(status) = state.children[number].try_wait()? {
                return Ok((!state.is_canceled).then_some(status));
            }
            drop(state);
            thread::sleep(POLL);
        }
    }

    /// Kills the running processes and their children, and prevents further starts.
    pub(crate) fn cancel(&self) {
        let mut state = lock(&self.state);
        state.is_canceled = true;
        for child in &mut state.children {
            // Kills only a running process, because the id of a process that `try_wait` has reaped may belong to another process.
            if matches!(child.try_wait(), Ok(None)) {
                kill(child);
                let _ = child.wait();
            }
        }
        state.unlock();
    }

    /// Stores locked files, so that the files remain locked until the end of the build.
    pub(crate) fn hold(&self, locks: Vec<File>) {
        lock(&self.state).locks = locks;
    }

    pub(crate) fn unlock(&self) {
        lock(&self.state).unlock();
    }

    pub(crate) fn is_canceled(&self) -> bool {
        lock(&self.state).is_canceled
    }
}

#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) number: usize,
    pub(crate) stdout: Option<std::process::ChildStdout>,
    pub(crate) stderr: Option<std::process::ChildStderr>,
}

/// Returns the error for a program that could not be started.
pub(crate) fn not_run(command: &Command, source: io::Error) -> BuildError {
    BuildError::CargoNotRun { program: command.get_program().display().to_string(), source }
}

/// Kills the process group, because a compiler that outlives its cargo would overwrite the library of the next build.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL)
        .is_ok()
    {
        return;
    }
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Processes, lock};
    use crate::error::BuildError;
    use rustix::process::{Pid, getpgid, getpgrp};
    use std::fs::File;
    use std::process::{Command, Stdio};

    #[test]
    fn a_canceled_build_holds_nothing_and_starts_nothing() {
        let processes = Processes::default();
        let start = || processes.start(Command::new("sleep").arg("600"), Stdio::null(), "sleep");
        let first = start().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let locked = File::open(file.path()).unwrap();
        locked.lock().unwrap();
        // Clones the descriptor, because a process that another thread starts also holds a copy between `fork` and `exec`.
        let inherited = locked.try_clone().unwrap();
        processes.hold(vec![locked]);
        let other = File::open(file.path()).unwrap();
        assert!(other.try_lock().is_err());
        processes.cancel();
        assert!(other.try_lock().is_ok(), "the canceled build holds its lock");
        drop(inherited);
        assert_eq!(processes.wait(first.number).unwrap(), None);
        assert!(matches!(start(), Err(BuildError::Canceled { .. })));
    }

    #[test]
    fn only_processes_of_a_build_that_can_be_canceled_form_a_group() {
        let group = |processes: &Processes| {
            let started = processes.start(Command::new("sleep").arg("600"), Stdio::null(), "sleep").unwrap();
            let group = getpgid(Some(Pid::from_child(&lock(&processes.state).children[started.number]))).unwrap();
            processes.cancel();
            group
        };
        assert_eq!(group(&Processes::in_this_group()), getpgrp());
        assert_ne!(group(&Processes::default()), getpgrp());
    }
}
