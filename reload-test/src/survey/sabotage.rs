//! Harm that a host does to itself, so that a test can see which way of reloading notices it. Each stands for something
//! that a plugin has started and that outlives it out of everybody's sight.
#![expect(unsafe_code, reason = "harms this process")]

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::Duration;

/// The reload at which it is done.
pub(crate) const AT: u64 = 2;

/// What is done as soon as the image that was there before is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub(crate) enum Sabotage {
    /// The kernel writes to an address in the image, as it does for a request that is still in flight.
    LateWrite,
    /// A signal strikes for which only the plugin has a handler, as that of a timer does.
    LateSignal,
    /// A descriptor that the plugin had is closed once more.
    LateClose,
    /// The host waits for ever.
    Hang,
}

impl Sabotage {
    /// Does it. `image` is an address in the middle of the image that is gone.
    pub(crate) fn strike(self, image: usize, descriptor: i32) -> Result<()> {
        match self {
            Sabotage::LateWrite => {
                let (reader, mut writer) = std::io::pipe().context("could not make a pipe")?;
                writer.write_all(b"too late").context("could not write to a pipe")?;
                let place = std::ptr::with_exposed_provenance_mut(image);
                // SAFETY: none, which is the point; where nothing is mapped, the kernel says so and writes nothing.
                unsafe { libc::read(reader.as_raw_fd(), place, 8) };
            }
            Sabotage::LateSignal => {
                // SAFETY: a signal for this thread. Without a handler it ends the process.
                unsafe { libc::raise(libc::SIGUSR1) };
            }
            Sabotage::LateClose => {
                // SAFETY: none: whose descriptor it is by now is not known.
                unsafe { libc::close(descriptor) };
            }
            Sabotage::Hang => loop {
                thread::sleep(Duration::from_secs(3600));
            },
        }
        Ok(())
    }
}
