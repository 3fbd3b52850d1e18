//! Everything that depends on the platform, behind the same few names. The file of a platform is chosen here; elsewhere, a `cfg`
//! only leaves out what a platform does not have.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use linux as chosen;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod portable;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use portable as chosen;

pub(crate) use chosen::file_at;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use chosen::hooks;
pub(crate) use chosen::{
    Fence, Lease, Mapping, Records, at_exit, checkpoint, clock, coarse_clock, ending_begins, ending_is_over, fds,
    forbids_code, keys_in_use, mapped_files, note_for_all, open_fds, opened_libraries, own_ring, panics_are_told,
    read_memory, report_crashes, report_panics, rss_kib, tell_panic, thread_names, thread_number, thread_stack,
    threads, told_name, unshare_folder, wake_all,
};
