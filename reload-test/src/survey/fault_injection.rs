//! Faults that a host injects into itself, to test their detection in each mode of reloading. Each fault simulates an operation that a
//! plugin has started and that outlives the plugin.
#![expect(unsafe_code, reason = "harms this process")]

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::Duration;

/// Reload at which the fault is injected.
pub(crate) const AT: u64 = 2;

/// Fault that is injected as soon as the previous image is unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub(crate) enum InjectedFault {
    /// The kernel writes to an address in the image, as for a request that is still pending.
    LateWrite,
    /// A signal arrives for which only the plugin had a handler, as from a timer.
    LateSignal,
    /// A former descriptor of the plugin is closed again.
    LateClose,
    /// The host blocks forever.
    Hang,
}

impl InjectedFault {
    /// Injects the fault. `image` is an address in the middle of the unmapped image.
    pub(crate) fn inject(self, image: usize, descriptor: i32) -> Result<()> {
        match self {
            InjectedFault::LateWrite => {
                let (reader, mut writer) = std::io::pipe().context("could not make a pipe")?;
                writer.write_all(b"too late").context("could not write to a pipe")?;
                let address = std::ptr::with_exposed_provenance_mut(image);
                // SAFETY: none, on purpose; for unmapped memory, the kernel returns an error and writes no byte.
                unsafe { libc::read(reader.as_raw_fd(), address, 8) };
            }
            InjectedFault::LateSignal => {
                // SAFETY: a signal for this thread. Without a handler it ends the process.
                unsafe { libc::raise(libc::SIGUSR1) };
            }
            InjectedFault::LateClose => {
                // SAFETY: none: the current owner of the descriptor is unknown.
                unsafe { libc::close(descriptor) };
            }
            InjectedFault::Hang => loop {
                thread::sleep(Duration::from_secs(3600));
            },
        }
        Ok(())
    }
}
