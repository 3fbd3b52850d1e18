//! Shared code of the benchmarks: release builds of example plugins, and a host.
#![allow(dead_code, reason = "each benchmark uses its own part of this")]

#[path = "../../tests/support/builds.rs"]
mod builds;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_runtime::{Outcome, ReloadReport, Runtime, process};

/// Returns two sealed release builds of an example plugin. Only their build ids differ.
pub(crate) fn builds(package: &str) -> [PathBuf; 2] {
    changed_builds(package, &[])
}

/// Returns two sealed release builds of an example plugin with different ids. Only the second build has `features`.
pub(crate) fn changed_builds(package: &str, features: &[&str]) -> [PathBuf; 2] {
    [builds::tagged(package, &[], 1), builds::tagged(package, features, 2)]
}

/// Creates a host whose Master contains `library`.
pub(crate) fn host(library: &Path) -> Runtime {
    let runtime = Runtime::builder().package("Game").natives(alcedo_engine::natives()).build();
    let runtime = runtime.expect("a runtime");
    runtime.create_master(&[library]).expect("the plugin loads");
    runtime
}

/// Reloads the Master, and checks that the reload was committed.
pub(crate) fn reload(runtime: &Runtime, library: &Path) -> ReloadReport {
    let report = runtime.reload(&[library]).expect("there is a Master");
    assert_eq!(report.outcome, Outcome::Committed);
    report
}

/// Waits until only the current generation is mapped, so that no finalizers of the previous generation run during a measurement.
pub(crate) fn settle(runtime: &Runtime) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let deadline = Instant::now() + PATIENCE;
    let drained = runtime.drain_finalizers(PATIENCE).expect("a safe point");
    assert!(drained.is_complete, "{drained:?}");
    while runtime.unloads().generations().len() > 1 {
        assert!(Instant::now() < deadline, "{:?}", runtime.unloads().generations());
        runtime.safe_point();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Resident memory of this process before an action, and its peak during the action, in KiB.
pub(crate) struct Peak {
    pub(crate) before: u64,
    pub(crate) peak: u64,
}

/// Runs `action`. Returns its result, the resident memory before it, and the peak memory during it.
pub(crate) fn with_peak<T>(action: impl FnOnce() -> T) -> (T, Peak) {
    let before = process::rss_kib().expect("a Linux with /proc");
    // Resets the peak that the kernel reports for this process.
    fs::write("/proc/self/clear_refs", "5").expect("a Linux with /proc");
    let result = action();
    (result, Peak { before, peak: status_kib("VmHWM") })
}

/// Returns a field of `/proc/self/status` whose unit is KiB.
pub(crate) fn status_kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a Linux with /proc");
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    number.expect("a number of KiB")
}

/// Pseudorandom number generator with the same numbers in each run: xorshift, by George Marsaglia.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// Returns the numbers from 0 to `count - 1` in random order.
pub(crate) fn shuffled(count: usize) -> Vec<usize> {
    let (mut order, mut dice): (Vec<_>, _) = ((0..count).collect(), Dice(0x5eed));
    (1..count).rev().for_each(|at| order.swap(at, dice.roll(at + 1)));
    order
}

/// Returns a configuration with enough samples for stable ratios between times, even on a machine with other load.
pub(crate) fn config() -> criterion::Criterion {
    criterion::Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
}
