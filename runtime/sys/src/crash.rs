//! Writes crash reports of this process. The handler of a fatal signal writes the signal, the registers, the stack and the memory map. The
//! signal then terminates this process as usual, and another process reads the report. All other data of a report is written during normal
//! operation, before a crash.
//!
//! A report is written to files instead of a pipe, because a full pipe would block the crashing process until another process reads.

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
/// handlers that are already installed remain effective. The calling thread receives an alternate signal stack, so that an overflow of its
/// stack is also reported. Crashes of processes that this process forks are not reported, because the files belong to this process.
/// Callable once per process, on any thread.
///
/// # Errors
///
/// Fails if the files cannot be created, if reporting was started before, or if the platform does not support crash reports. Fails with
/// [`io::ErrorKind::WouldBlock`] while another process reports into the folder.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let create = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name));
    let file = create(NOTES)?;
    imp::report_crashes([create(CRASH)?, create(STACK)?, create(MAPS)?])?;
    // Only the first call in a process reaches this line, because `report_crashes` fails in later calls.
    notes::begin(std::path::absolute(folder)?, file)
}

/// Locks the folder of a host's crash reports. Until the returned file is dropped, the library copies of the host are kept even after the
/// host has exited. Without this lock, the next host removes the copies. The process that reads the crash reports must call this function
/// before it starts the host.
///
/// # Errors
///
/// Fails if the folder cannot be opened or locked.
pub fn keep_copies(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Records that a copy was unmapped or could not be mapped.
pub(crate) fn gone(copy: &Path) {
    notes::gone(copy, imp::clock);
}
