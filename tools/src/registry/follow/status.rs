//! Reads the status of a host, and checks that its process runs: the file of an ended host stays and must not be taken for a healthy host.

use std::path::Path;

use alcedo_runtime::HostStatus;
use alcedo_runtime::development::plain_file;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Maximum size of a file of `/proc` in bytes.
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
            Ok(Some(status)) if is_running(status.process) => Self::Running(status),
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

/// Checks if a process of this machine runs.
fn is_running(process: u32) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    // A process of another user refuses the signal, and runs.
    if test_kill_process(pid) == Err(Errno::SRCH) {
        return false;
    }
    let stat = plain_file::read(Path::new(&format!("/proc/{process}/stat")), LARGEST);
    stat.map_or(true, |stat| !has_ended(&String::from_utf8_lossy(&stat)))
}

/// Checks if a process has ended whose parent has not yet read its exit code. `stat` is its file in `/proc`.
fn has_ended(stat: &str) -> bool {
    // The name is in parentheses, and may contain some.
    stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with(['Z', 'X']))
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
        let of = |process: u32| {
            let text = format!("{{\"process\": {process}, \"generation\": 1, \"modules\": []}}");
            fs::write(&path, text).expect("written");
            Report::read(&path)
        };
        let mut child = Command::new("true").spawn().expect("a process");
        child.wait().expect("it ends");
        assert!(matches!(of(child.id()), Report::Ended(_)));
        assert!(matches!(of(std::process::id()), Report::Running(_)));
        assert!(matches!(of(0), Report::Ended(_)));
        assert!(has_ended("7 (a) b) Z 1 7") && !has_ended("7 (Z) S 1 7"));
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
