//! Platform-specific code behind a common interface. This file selects the platform. All other `cfg` attributes only exclude features that
//! a platform lacks.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux as chosen;

// Every test build compiles this module, to check that it builds on every platform.
#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(dead_code, unused_imports, reason = "chosen on other platforms")
)]
mod portable;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use portable as chosen;

pub(crate) use chosen::file_at;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use chosen::hooks;
pub(crate) use chosen::{
    Fence, Lease, Mapping, REPAIRS, Records, Snapshot, are_panics_reported, at_exit, checkpoint, clock, coarse_clock,
    fds, forbids_code, keys_in_use, mapped_files, note_for_all, open_fds, opened_libraries, own_ring, read_memory,
    report_crashes, report_panics, reported_name, rss_kib, thread_names, thread_number, thread_stack, threads,
    unshare_folder, wake_all, write_panic,
};

/// Size in bytes of the inaccessible memory on each side of a fenced buffer's pages. Accesses beyond the inaccessible memory are not
/// detected.
pub const FENCE: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// No process had write access.
    None,
    /// A process has opened the file for writing, or is opening the file for writing.
    Some,
    /// The system does not report writers.
    Unknown,
}
