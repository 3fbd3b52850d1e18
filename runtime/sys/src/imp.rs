//! Platform-specific code behind a common interface. This file selects the platform. All `cfg` attributes outside of this module only
//! exclude features that a platform lacks.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux as chosen;

// Every test build compiles the portable module, to check that it builds on every platform.
#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(dead_code, unused_imports, unreachable_pub, reason = "chosen on other platforms")
)]
mod portable;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use portable as chosen;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use chosen::hooks;
#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
pub(crate) use chosen::is_noted_for_all;
pub use chosen::{
    Fence, Snapshot, at_exit, coarse_clock, fds, file_at, keys_in_use, open_fds, read_memory, rss_kib, start_writing,
    thread_names, thread_stack, threads,
};
pub(crate) use chosen::{
    KEEPS_IMAGES, Lease, Mapping, REPAIRS, Records, are_panics_reported, checkpoint, clock, forbids_code,
    forget_unmapped, has_thread_locals_here, mapped_files, note_for_all, open_library, opened_libraries, own_ring,
    report_crashes, report_panics, thread_number, unshare_folder, wake_all, write_panic,
};

/// `true` if this process is linked statically. The C library of such a process has no loader.
pub(crate) const IS_STATIC: bool = cfg!(all(target_os = "linux", target_feature = "crt-static"));

/// Size in bytes of the inaccessible memory on each side of a fenced buffer's pages. Accesses beyond the inaccessible memory are not
/// detected.
pub const FENCE: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// No process has the file open for writing.
    None,
    /// A process has opened the file for writing, or is opening the file for writing.
    Some,
    /// The system does not report writers.
    Unknown,
}

/// Formats a thread for reports as `"worker-3" (4711)`, or as one part of this form if the other is unknown. If `name` is `None`, uses the
/// name that a module has reported for the thread.
#[must_use]
pub fn describe_thread(name: Option<&str>, number: Option<i32>) -> String {
    let reported = if name.is_none() { number.and_then(chosen::reported_name) } else { None };
    match (name.or(reported.as_deref()), number) {
        (Some(name), Some(number)) => format!("{name:?} ({number})"),
        (Some(name), None) => format!("{name:?}"),
        (None, Some(number)) => format!("({number})"),
        (None, None) => "unknown".to_owned(),
    }
}
