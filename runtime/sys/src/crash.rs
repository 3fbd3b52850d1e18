//! Writes crash reports of this process. The handler of a fatal signal writes the report. The signal then terminates this process as usual.
//! The report is read by another process. The handler writes only the signal, the registers, the stack and the memory map. The process
//! writes the remaining data of the report before a crash.
//!
//! Reports are written to files instead of a pipe. A full pipe would block the crashing process. A file needs no reader during the crash.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::{imp, notes};

pub use crate::notes::{NOTES, module, stage};

/// File with the signal and the registers, one value per line.
pub const CRASH: &str = "crash";
/// File with the bytes of the stack. The bytes start at the address in the file [`CRASH`].
pub const STACK: &str = "stack";
/// File with the content of `/proc/self/maps`.
pub const MAPS: &str = "maps";

/// Starts crash reports of this process: a fatal signal is recorded in the existing `folder` before the signal takes effect. Signal
/// handlers that are already installed remain effective. The calling thread receives an alternate signal stack. An overflow of its stack is
/// therefore also reported. Callable once per process, on any thread.
///
/// # Errors
///
/// If the files cannot be created, if reporting was started before, or if the platform does not support crash reports.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let create = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name));
    let file = create(NOTES)?;
    imp::report_crashes([create(CRASH)?, create(STACK)?, create(MAPS)?])?;
    // Only the first caller reaches this line. The previous line fails for later callers.
    notes::begin(std::path::absolute(folder)?, file)
}

/// Keeps the library copies of a host after the host exits, until the returned file is dropped. `folder` is the folder of the host's crash
/// reports. Without this call, the next host removes the copies. The process that reads the crash reports must call this function before it
/// starts the host.
///
/// # Errors
///
/// If the folder cannot be opened or locked.
pub fn keep_copies(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Records that a copy was unmapped or could not be mapped.
pub(crate) fn gone(copy: &Path) {
    notes::gone(copy, imp::clock);
}
