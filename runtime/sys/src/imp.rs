//! Everything that depends on the platform, behind the same few names. The file of a platform is chosen here; elsewhere, a `cfg`
//! only leaves out what a platform does not have.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux as chosen;

// In tests everywhere, so that it compiles on every platform.
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
    Fence, Lease, Mapping, REPAIRS, Records, at_exit, checkpoint, clock, coarse_clock, fds, forbids_code, keys_in_use,
    mapped_files, note_for_all, open_fds, opened_libraries, own_ring, panics_are_told, read_memory, report_crashes,
    report_panics, rss_kib, tell_panic, thread_names, thread_number, thread_stack, threads, unshare_folder, wake_all,
};

/// Bytes behind the end, and before the first page, that stop whoever touches them. An access that leaps over all of them is
/// not stopped.
pub const FENCE: usize = 64 * 1024;

/// Who may have written to a file while it was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// No process.
    None,
    /// A process has it open for writing, or wanted to.
    Some,
    /// The system does not say.
    Unknown,
}

/// A thread by its name and number, as every report names it.
pub(crate) fn thread_in_words(name: Option<&str>, number: Option<i32>) -> String {
    let told = if name.is_none() { number.and_then(chosen::told_name) } else { None };
    match (name.or(told.as_deref()), number) {
        (Some(name), Some(number)) => format!("{name:?} ({number})"),
        (Some(name), None) => format!("{name:?}"),
        (None, Some(number)) => format!("({number})"),
        (None, None) => "unknown".to_owned(),
    }
}
