//! Everything that depends on the platform, behind the same few names: one file is chosen here and nowhere else.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use linux::{Mapping, mapped_files, open_fds, rss_kib, threads};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod portable;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) use portable::{Mapping, mapped_files, open_fds, rss_kib, threads};
