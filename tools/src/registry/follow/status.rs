//! Reads the status of a host, and checks that its process runs. A status file remains after the host has exited, and must not count as the
//! status of a healthy host.

use std::path::Path;

use alcedo_runtime::HostStatus;
use alcedo_runtime::development::plain_file;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Maximum size of a file in `/proc` in bytes.
const LARGEST: u64 = 1 << 12;

/// Status file of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// Status of a process that runs.
    Running(HostStatus),
    /// Status of a process that has ended.
    Ended(HostStatus),
    Missing,
    /// The file is not a status. Contains the reason.
    Unreadable(String),
}

impl Report {
    /// Reads a status file of a host on this machine.
    pub(super) fn read(path: &Path) -> Self {
        match HostStatus::read(path) {
            Ok(Some(status)) if is_running(&status) => Self::Running(status),
            Ok(Some(status)) => Self::Ended(status),
            Ok(None) => Self::Missing,
            Err(error) => Self::Unreadable(format!("{} is not a status: {error}", path.display())),
        }
    }

    /// Returns the status of a process that runs.
    pub(super) fn running(&self) -> Option<&HostStatus> {
        match self {
            Self::Running(status) => Some(status),
            _ => None,
        }
    }
}

/// Returns the id and the start time of a host's process.
pub(super) fn process_of(status: &HostStatus) -> (u32, u64) {
    (status.process, status.started)
}

/// Checks if two ids with start times can denote one process. A start time of 0 is unknown: a sandbox may hide `/proc` from a running host.
pub(super) fn is_same(one: (u32, u64), other: (u32, u64)) -> bool {
    one.0 == other.0 && (one.1 == other.1 || one.1 == 0 || other.1 == 0)
}

/// Checks if the process of a status runs on this machine.
fn is_running(HostStatus { process, started, .. }: &HostStatus) -> bool {
    let Some(pid) = i32::try_from(*process).ok().and_then(Pid::from_raw) else { return false };
    // Only the error "no such process" shows that the process has ended. For a process of another user, the kernel denies the signal.
    if test_kill_process(pid) == Err(Errno::SRCH) {
        return false;
    }
    let stat = plain_file::read(Path::new(&format!("/proc/{process}/stat")), LARGEST);
    stat.map_or(true, |stat| !has_ended(&String::from_utf8_lossy(&stat), *started))
}

/// Checks if a process has ended although its id exists. The parent may not have read the exit code yet, or the id may belong to a process
/// with another start time. `stat` is the content of the file in `/proc` for this id. `started` is 0 if the start time is unknown.
fn has_ended(stat: &str, started: u64) -> bool {
    // Splits at the last parenthesis, because the name of the process is in parentheses, and may itself contain parentheses.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let mut fields = fields.split_ascii_whitespace();
    let is_over = fields.next().is_some_and(|state| state.starts_with(['Z', 'X']));
    is_over || started != 0 && fields.nth(18).is_some_and(|found| found.parse::<u64>() != Ok(started))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::{Report, has_ended};

    #[test]
    fn the_status_of_an_ended_process_is_not_that_of_a_host() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("status.json");
        let of_start = |process: u32, started: u64| {
            let text =
                format!("{{\"process\": {process}, \"started\": {started}, \"generation\": 1, \"modules\": []}}");
            fs::write(&path, text).expect("written");
            Report::read(&path)
        };
        let of = |process| of_start(process, 0);
        let mut child = Command::new("true").spawn().expect("a process");
        child.wait().expect("it ends");
        assert!(matches!(of(child.id()), Report::Ended(_)));
        assert!(matches!(of(std::process::id()), Report::Running(_)));
        assert!(matches!(of(0), Report::Ended(_)));
        assert!(matches!(of_start(std::process::id(), u64::MAX), Report::Ended(_)), "the id is used again");
        assert!(has_ended("7 (a) b) Z 1 7", 0) && !has_ended("7 (Z) S 1 7", 7));
        let stat = format!("7 (a) S {}8 9", "1 ".repeat(18));
        assert_eq!([0, 1, 8, 9].map(|started| has_ended(&stat, started)), [false, true, false, true]);
    }

    #[test]
    fn a_status_that_cannot_be_read_is_described() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("status.json");
        assert_eq!(Report::read(&path), Report::Missing);
        let reason = |path: &Path| match Report::read(path) {
            Report::Unreadable(reason) => reason,
            other => format!("{other:?}"),
        };
        assert!(reason(dir.path()).contains("it is a folder"), "{}", reason(dir.path()));
        fs::write(&path, "garbage").expect("written");
        assert!(reason(&path).contains("status.json is not a status: expected value"), "{}", reason(&path));
    }
}
