//! Crash reports of this process. Fatal signals are recorded for another process to read, before they terminate this process as
//! usual. All data that is needed besides the registers is noted in advance.
//!
//! Reports are written to files instead of a pipe: no reader has to run at the time, and their size cannot block a dying process.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::{imp, notes};

pub use crate::notes::{NOTES, module, stage};

/// File with the signal and the registers, as lines.
pub const CRASH: &str = "crash";
/// File with the bytes of the stack, from the address in the crash file.
pub const STACK: &str = "stack";
/// File with the content of `/proc/self/maps`.
pub const MAPS: &str = "maps";

/// Records fatal signals of this process in the existing `folder` before they take effect. The handling of signals is unchanged
/// otherwise. The calling thread gets an alternate stack, so that an overflow of its stack can be reported as well. Once per process;
/// any thread.
///
/// # Errors
///
/// The files cannot be created, reporting was started before, or the platform does not support it.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let create = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name));
    let file = create(NOTES)?;
    imp::report_crashes([create(CRASH)?, create(STACK)?, create(MAPS)?])?;
    // Only the first caller passes the previous line.
    notes::begin(std::path::absolute(folder)?, file)
}

/// Keeps the library copies of a host that reports into `folder` after the end of the host, until the result is dropped. Otherwise the
/// next host removes them. For the process that reads the crash report; must be called before the host starts.
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
