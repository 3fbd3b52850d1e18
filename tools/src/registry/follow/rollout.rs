//! Decides the steps of a rollout from the states of the hosts. One host receives the files first, and the remaining hosts follow in steps.
//! If one host is unhealthy, all hosts return to their last good files. The functions in this file read no clock and no files.

use std::collections::BTreeMap;
use std::time::Duration;

use alcedo_runtime::{ModuleState, Version};

use super::status::{Report, is_same, process_of};

/// Digests of libraries by file name.
pub(super) type Files = BTreeMap<String, String>;

/// Progress of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The host has not received the files.
    Pending,
    /// The host has the files, but its health window has not ended.
    Waiting,
    Healthy,
    /// The host has rejected a file, was unhealthy, has exited, or did not report the files in time. Contains the reason.
    Unhealthy(String),
}

/// Next step of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Write the files of these hosts.
    Write(Vec<usize>),
    Wait,
    /// Return all hosts to their last good files, because this host is unhealthy.
    Back(usize),
    Done,
}

/// Returns the next step. `step` is the number of hosts that receive the files at the same time, after the first host.
pub(super) fn next(hosts: &[Progress], step: usize) -> Next {
    if let Some(culprit) = hosts.iter().position(|host| matches!(host, Progress::Unhealthy(_))) {
        return Next::Back(culprit);
    }
    if hosts.contains(&Progress::Waiting) {
        return Next::Wait;
    }
    let count = if hosts.contains(&Progress::Healthy) { step.max(1) } else { 1 };
    let pending = (0..hosts.len()).filter(|&at| hosts[at] == Progress::Pending);
    let next: Vec<_> = pending.take(count).collect();
    if next.is_empty() { Next::Done } else { Next::Write(next) }
}

/// Returns the progress of a host that has received files. `process` contains the id and the start time of the host's process when the
/// files were written.
pub(super) fn observe(
    expected: &Files,
    report: &Report,
    process: Option<(u32, u64)>,
    (elapsed, patience): (Duration, Duration),
) -> Progress {
    let status = match report {
        Report::Running(status) => Some(status),
        // The process that received the files may have reported a reason before it ended.
        Report::Ended(status) => Some(status).filter(|_| process.is_some_and(|at| is_same(at, process_of(status)))),
        Report::Missing | Report::Unreadable(_) => None,
    };
    let of = |file: &String| status.and_then(|status| status.modules.iter().find(|module| module.file == *file));
    for (file, digest) in expected {
        let Some(module) = of(file) else { continue };
        if let Some(rejected) = module.rejected.as_ref().filter(|rejected| rejected.digest == *digest) {
            return Progress::Unhealthy(format!("{file}: {}", rejected.reason));
        }
        if let ModuleState::Unhealthy { reason } = &module.state
            && module.digest == *digest
        {
            return Progress::Unhealthy(format!("{file}: {reason}"));
        }
    }
    if let (Some(before), Some(now)) = (process, status.map(process_of))
        && !is_same(before, now)
    {
        let later = if before.0 == now.0 { "a later process " } else { "" };
        return Progress::Unhealthy(format!(
            "the host ended before its health window (process {}, now {later}{})",
            before.0, now.0
        ));
    }
    if let (Report::Ended(_), Some(ended)) = (report, status) {
        return Progress::Unhealthy(format!("the host ended before its health window (process {})", ended.process));
    }
    let runs = |(file, digest): (&String, &String)| {
        of(file).is_some_and(|module| module.digest == *digest && module.state == ModuleState::Running)
    };
    if expected.iter().all(runs) {
        return Progress::Healthy;
    }
    if elapsed < patience {
        return Progress::Waiting;
    }
    let seconds = patience.as_secs();
    Progress::Unhealthy(match report {
        Report::Missing => {
            format!("the host has no status file after {seconds} s: does it run, with `HealthWatch::status_file`?")
        }
        Report::Unreadable(reason) => {
            format!("{reason} (after {seconds} s): write the path of `HealthWatch::status_file` in the document")
        }
        Report::Ended(status) => format!(
            "the host does not run after {seconds} s: process {} of its status file has ended on this machine; start the host here",
            status.process
        ),
        Report::Running(_) => match expected.keys().find(|file| is_absent(report, file)) {
            Some(file) => format!("the host has unloaded {file}, and has not loaded it again after {seconds} s"),
            None => format!(
                "the host has not reported healthy code after {seconds} s: did it crash, or is `patience` too short?"
            ),
        },
    })
}

/// Checks if a running host has unloaded a library. The host does not load a new version of an unloaded library.
pub(super) fn is_absent(report: &Report, file: &str) -> bool {
    let mut modules = report.running().into_iter().flat_map(|status| &status.modules);
    modules.any(|module| module.file == file && module.state == ModuleState::Absent)
}

/// Checks that a host does not receive an older version.
///
/// # Errors
/// Returns the reason for a refusal.
pub(super) fn check_age(
    module: &str,
    present: Option<&Version>,
    new: &Version,
    allows_older: bool,
) -> Result<(), String> {
    match present {
        Some(present) if present > new && !allows_older => Err(format!(
            "{module} {new} is older than {present}, which is there: an older build may have a known fault; build a newer version, or pass \
             `--allow-older`"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use alcedo_runtime::HostStatus;
    use serde_json::json;

    use super::{Files, Next, Progress, Report, check_age, next, observe};

    /// Runs a rollout. Each set bit of `unhealthy` denotes a host that becomes unhealthy. Returns the hosts that have the new files at the
    /// end, and the largest number of hosts that received files at the same time.
    fn run(count: usize, step: usize, unhealthy: u32) -> (Vec<bool>, usize) {
        let mut hosts = vec![Progress::Pending; count];
        let mut largest = 0;
        for _ in 0..=2 * count {
            match next(&hosts, step) {
                Next::Write(wave) => {
                    assert!(!hosts.contains(&Progress::Waiting), "a wave waits for the wave before it");
                    let is_first = hosts.iter().all(|host| *host == Progress::Pending);
                    assert_eq!(wave.len(), if is_first { 1 } else { wave.len() }, "one host is first");
                    assert!(wave.len() <= step.max(1) && !wave.is_empty(), "{wave:?}");
                    largest = largest.max(wave.len());
                    wave.iter().for_each(|&at| hosts[at] = Progress::Waiting);
                }
                Next::Wait => {
                    // Lets the hosts report one by one.
                    let at = hosts.iter().position(|host| *host == Progress::Waiting).expect("a host waits");
                    let is_unhealthy = unhealthy & (1 << at) != 0;
                    hosts[at] = if is_unhealthy { Progress::Unhealthy("sick".into()) } else { Progress::Healthy };
                }
                Next::Back(culprit) => {
                    assert!(matches!(hosts[culprit], Progress::Unhealthy(_)));
                    return (vec![false; count], largest);
                }
                Next::Done => return (hosts.iter().map(|host| *host == Progress::Healthy).collect(), largest),
            }
        }
        panic!("the rollout has no end: {hosts:?}");
    }

    #[test]
    fn every_rollout_ends_with_all_hosts_new_or_all_hosts_back() {
        for count in 1..=7_usize {
            for step in 0..=count {
                for unhealthy in 0..(1_u32 << count) {
                    let (new, largest) = run(count, step, unhealthy);
                    assert_eq!(
                        new,
                        vec![unhealthy == 0; count],
                        "{count} hosts, {step} at once, {unhealthy:b} unhealthy"
                    );
                    assert!(largest <= step.max(1));
                }
            }
        }
    }

    #[test]
    fn the_first_unhealthy_host_stops_all_writes() {
        let sick = || Progress::Unhealthy("sick".into());
        assert_eq!(next(&[Progress::Healthy, Progress::Waiting, sick(), Progress::Pending], 3), Next::Back(2));
        assert_eq!(next(&[sick(), Progress::Pending], 3), Next::Back(0));
        assert_eq!(next(&[Progress::Pending, Progress::Pending], 3), Next::Write(vec![0]));
        assert_eq!(next(&[Progress::Healthy, Progress::Pending, Progress::Pending], 3), Next::Write(vec![1, 2]));
    }

    /// Returns the progress of a host that has received two files, and whose status contains the states `a` and `b` after `seconds`.
    fn observed(a: serde_json::Value, b: serde_json::Value, process: u32, seconds: u64) -> String {
        let status = json!({ "process": process, "generation": 2, "modules": [a, b] });
        described(&Report::Running(serde_json::from_value(status).expect("a status")), Some((1, 0)), seconds)
    }

    fn described(report: &Report, process: Option<(u32, u64)>, seconds: u64) -> String {
        let expected = [("a.so", "new"), ("b.so", "new")].map(|(file, digest)| (file.to_owned(), digest.to_owned()));
        let times = (Duration::from_secs(seconds), Duration::from_secs(10));
        match observe(&Files::from(expected), report, process, times) {
            Progress::Unhealthy(reason) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_host_is_healthy_if_it_reports_each_digest_as_running() {
        let module = |file: &str, digest: &str, state: &str| json!({ "file": file, "digest": digest, "state": state });
        let (a, b) = (module("a.so", "new", "running"), module("b.so", "new", "running"));
        assert_eq!(observed(a.clone(), b.clone(), 1, 0), "Healthy");
        assert_eq!(observed(a.clone(), module("b.so", "new", "checking"), 1, 0), "Waiting");
        assert_eq!(observed(a.clone(), module("b.so", "old", "running"), 1, 9), "Waiting");
        assert!(observed(a.clone(), module("b.so", "old", "running"), 1, 10).contains("has not reported healthy code"));
        assert_eq!(observed(a.clone(), module("c.so", "new", "running"), 1, 0), "Waiting");
        // Waits first, because a host may temporarily unload its Master.
        assert_eq!(observed(a.clone(), module("b.so", "", "absent"), 1, 9), "Waiting");
        assert!(observed(a.clone(), module("b.so", "", "absent"), 1, 10).starts_with("the host has unloaded b.so"));
        assert!(observed(a.clone(), module("b.so", "new", "checking"), 2, 0).contains("(process 1, now 2)"));
        let mut unhealthy = module("b.so", "new", "unhealthy");
        unhealthy["reason"] = "no lamp".into();
        assert_eq!(observed(a.clone(), unhealthy, 1, 0), "b.so: no lamp");
        for (digest, expected) in [("new", "b.so: it is damaged"), ("other", "Waiting")] {
            let mut rejected = module("b.so", "old", "running");
            rejected["rejected"] = json!({ "digest": digest, "by": "load", "reason": "it is damaged" });
            assert_eq!(observed(a.clone(), rejected, 1, 0), expected);
        }
    }

    #[test]
    fn a_host_without_a_status_is_unhealthy_after_the_patience() {
        let at = |seconds| {
            let times = (Duration::from_secs(seconds), Duration::from_secs(10));
            observe(&Files::from([("a.so".to_owned(), "new".to_owned())]), &Report::Missing, None, times)
        };
        assert_eq!(at(9), Progress::Waiting);
        assert!(matches!(at(10), Progress::Unhealthy(reason) if reason.contains("no status file after 10 s")));
    }

    #[test]
    fn the_status_of_an_ended_host_is_not_healthy() {
        let module = |file: &str| json!({ "file": file, "digest": "new", "state": "running" });
        let status = json!({ "process": 7, "generation": 2, "modules": [module("a.so"), module("b.so")] });
        let status: HostStatus = serde_json::from_value(status).expect("a status");
        let ended = Report::Ended(status.clone());
        assert_eq!(described(&Report::Running(status), None, 0), "Healthy");
        assert_eq!(described(&ended, None, 9), "Waiting", "a supervisor may start it");
        assert!(described(&ended, None, 10).contains("process 7 of its status file has ended"));
        assert!(described(&ended, Some((7, 0)), 0).contains("the host ended before its health window (process 7)"));
        let folder = Report::Unreadable("/srv/a is not a status: it is a folder".to_owned());
        assert!(described(&folder, None, 10).starts_with("/srv/a is not a status: it is a folder"));
    }

    #[test]
    fn a_restarted_host_with_its_old_process_id_is_not_healthy() {
        let module = |file: &str| json!({ "file": file, "digest": "new", "state": "running" });
        let status =
            json!({ "process": 7, "started": 5, "generation": 2, "modules": [module("a.so"), module("b.so")] });
        let running = Report::Running(serde_json::from_value(status).expect("a status"));
        assert_eq!(described(&running, Some((7, 5)), 0), "Healthy");
        assert!(described(&running, Some((7, 4)), 0).ends_with("(process 7, now a later process 7)"));
        assert_eq!(described(&running, Some((7, 0)), 0), "Healthy", "the start time was not known");
    }

    #[test]
    fn an_older_version_needs_permission() {
        let check = |present: Option<&str>, new: &str, allows: bool, is_accepted: bool| {
            let present = present.map(|version| version.parse().expect("a version"));
            let checked = check_age("lamp", present.as_ref(), &new.parse().expect("a version"), allows);
            assert_eq!(checked.is_ok(), is_accepted, "{present:?} {new}: {checked:?}");
        };
        check(None, "1.0.0", false, true);
        check(Some("1.0.0"), "1.0.0", false, true);
        check(Some("1.0.0"), "1.0.1", false, true);
        check(Some("1.0.1"), "1.0.0", false, false);
        check(Some("1.0.0"), "1.0.0-beta.2", false, false);
        check(Some("1.0.1"), "1.0.0", true, true);
    }
}
