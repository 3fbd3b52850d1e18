//! Child processes of images. An exited child remains as a zombie until its parent process waits for it or exits. After the image is
//! unmapped, no code waits for its children, because only the image had their pids.
//!
//! Queries the kernel instead of hooking the wait functions. If a recorded pid no longer belongs to a child, or belongs to a newer process,
//! some code has already waited for the recorded child.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::lock;
use crate::ledger::repair::Repair;
use crate::stat;

pub(super) const REPAIR: Repair = Repair {
    name: "a child process",
    counts: |image, counts| counts.children = held(image.owner()),
    free: |gone, report| {
        (report.children_left, report.children_reaped) = take(gone.image().owner(), gone.policy().reap_children);
    },
    ..Repair::NONE
};

static RECORDS: Mutex<RecordTable> = Mutex::new(RecordTable { children: Vec::new(), prune_at: 64 });

/// Number of children of unmapped images that the host reaps when they exit.
static ORPHANS: AtomicUsize = AtomicUsize::new(0);

struct RecordTable {
    children: Vec<Child>,
    /// Length of `children` at which the records of reaped children are next removed.
    prune_at: usize,
}

#[derive(Clone, Copy)]
struct Child {
    /// Address of the ledger of the image that started the child. Zero if the image is unmapped and the host reaps the child.
    owner: usize,
    pid: Pid,
    /// Start time in the unit of the kernel. Distinguishes processes that have the same pid.
    started: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Runs,
    Ended {
        status: i32,
        by_signal: bool,
    },
    /// The process is not a child of this process, or other code has already waited for the child.
    Unknown,
}

pub(super) fn started(owner: usize, pid: i32) {
    let Some(started) = stat::started(pid.cast_unsigned()) else { return };
    let Some(pid) = Pid::from_raw(pid) else { return };
    let mut records = lock(&RECORDS);
    if records.children.len() >= records.prune_at {
        // Keeps the children of unmapped images, because `reap_ended` counts them when it removes their records.
        records.children.retain(|child| child.owner == 0 || state(child) != State::Unknown);
        records.prune_at = (records.children.len() * 2).max(64);
    }
    records.children.push(Child { owner, pid, started });
}

fn held(owner: usize) -> u64 {
    let of_image = of_image(owner);
    of_image.iter().filter(|child| state(child) != State::Unknown).count() as u64
}

/// Removes the records of an image. Returns the children for which no code has waited, each with a description, and the number of reaped
/// children. If `reaps` is `true`, reaps exited children now, and leaves running children to [`reap_ended`].
fn take(owner: usize, reaps: bool) -> (Vec<(i32, String)>, u64) {
    let mut left = Vec::new();
    let mut reaped = 0;
    for child in of_image(owner) {
        let state = state(&child);
        let Some(description) = describe(child.pid, state) else { continue };
        match state {
            State::Ended { .. } if reaps => {
                reap(child.pid);
                reaped += 1;
            }
            _ => left.push((child.pid.as_raw_pid(), description)),
        }
    }
    let mut records = lock(&RECORDS);
    if reaps {
        let orphans = records.children.iter_mut().filter(|child| child.owner == owner);
        orphans.for_each(|child| {
            child.owner = 0;
            ORPHANS.fetch_add(1, Ordering::SeqCst);
        });
    } else {
        records.children.retain(|child| child.owner != owner);
    }
    (left, reaped)
}

/// Reaps exited children of unmapped images. If no such children exist, returns after one atomic load.
pub(super) fn reap_ended() {
    if ORPHANS.load(Ordering::Relaxed) == 0 {
        return;
    }
    lock(&RECORDS).children.retain(|child| {
        let state = if child.owner == 0 { state(child) } else { State::Runs };
        if matches!(state, State::Ended { .. }) {
            reap(child.pid);
        }
        let is_over = state != State::Runs;
        ORPHANS.fetch_sub(usize::from(is_over), Ordering::SeqCst);
        !is_over
    });
}

fn of_image(owner: usize) -> Vec<Child> {
    lock(&RECORDS).children.iter().filter(|child| child.owner == owner).copied().collect()
}

/// Returns the state of a child process, without removing the child from the system.
fn state(child: &Child) -> State {
    if stat::started(child.pid.as_raw_pid().cast_unsigned()) != Some(child.started) {
        return State::Unknown;
    }
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(child.pid), options) {
        Ok(Some(ended)) => {
            let (status, signal) = (ended.exit_status(), ended.terminating_signal());
            State::Ended { status: status.or(signal).unwrap_or_default(), by_signal: status.is_none() }
        }
        Ok(None) => State::Runs,
        Err(_) => State::Unknown,
    }
}

fn reap(pid: Pid) {
    // An error is ignored, because other code may have reaped the child.
    let _reaped = waitpid(Some(pid), WaitOptions::NOHANG);
}

fn describe(pid: Pid, state: State) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_pid())).unwrap_or_default();
    let name = name.trim_end_matches('\n');
    match state {
        State::Unknown => None,
        State::Runs => Some(format!("{name}, still running")),
        State::Ended { status, by_signal: false } => Some(format!("{name}, ended with status {status}")),
        State::Ended { status, by_signal: true } => Some(format!("{name}, ended by signal {status}")),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::atomic::Ordering;

    use super::{ORPHANS, RECORDS, lock, reap_ended, started, take};

    #[test]
    fn an_orphan_that_other_code_has_reaped_is_not_counted_forever() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("a child");
        let pid = child.id().cast_signed();
        started(1, pid);
        let (left, reaped) = take(1, true);
        assert_eq!((left.len(), reaped, ORPHANS.load(Ordering::SeqCst)), (1, 0, 1));
        // Closes the input of the child, which then ends.
        child.wait().expect("it ends");
        lock(&RECORDS).prune_at = 0;
        started(1, std::process::id().cast_signed());
        reap_ended();
        assert_eq!(ORPHANS.load(Ordering::SeqCst), 0);
        take(1, false);
    }
}
