//! Writes crash reports of this process. A fatal signal is recorded for another process before the signal terminates this process as
//! usual. All data except the registers is noted before a crash.
//!
//! Reports are written to files instead of a pipe. A file needs no reader during the crash, and a full pipe would block the crashing
//! process.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::{imp, notes};

pub use crate::notes::{NOTES, module, stage};

/// File with the signal and the registers, one value per line.
pub const CRASH: &str = "crash";
/// File with the bytes of the stack, from the address in the crash file.
pub const STACK: &str = "stack";
/// File with the content of `/proc/self/maps`.
pub const MAPS: &str = "maps";

/// Records fatal signals of this process in the existing `folder` before they take effect. Otherwise, signals are handled as before. The
/// calling thread gets an alternate stack, so that an overflow of its stack is also reported. This function may be called once per
/// process, on any thread.
///
/// # Errors
///
/// The files cannot be created, reporting was started before, or the platform does not support crash reports.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let create = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name));
    let file = create(NOTES)?;
    imp::report_crashes([create(CRASH)?, create(STACK)?, create(MAPS)?])?;
    // Continues only for the first caller, because the previous line fails for later callers.
    notes::begin(std::path::absolute(folder)?, file)
}

/// Keeps the library copies of a host after the host exits, until the returned file is dropped. The host reports its crashes into this
/// folder. Without this call, the next host removes the copies. The process that reads the crash report must call this function before
/// it starts the host.
///
/// # Errors
///
/// The folder cannot be opened or locked.
pub fn keep_copies(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Notes that a copy was unmapped or could not be mapped.
pub(crate) fn gone(copy: &Path) {
    notes::gone(copy, imp::clock);
}
