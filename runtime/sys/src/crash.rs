//! The last words of this process. A fatal signal is written down, for another process to read, before it ends us as it
//! would have anyhow. What has to be known for that beyond the registers is noted while all is well.
//!
//! The words go into files, not through a pipe: no reader has to run at the time, and however many there are, they
//! cannot block a process that is dying.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::{imp, notes};

pub use crate::notes::{NOTES, module, stage};

/// Lines: what the signal was, and the registers.
pub const CRASH: &str = "crash";
/// The bytes of the stack, from the address that the crash names.
pub const STACK: &str = "stack";
/// What `/proc/self/maps` said.
pub const MAPS: &str = "maps";

/// From now on a fatal signal of this process is written down in `folder`, which exists, before it takes its course.
/// What the process does about signals otherwise stays as it is. The calling thread gets a stack of its own for it, so
/// that an overflow of its usual one can be reported as well. Once in a process; any thread.
///
/// # Errors
///
/// When the files cannot be made, it was done before, or the platform does not report its signals.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let create = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name));
    let file = create(NOTES)?;
    imp::report_crashes([create(CRASH)?, create(STACK)?, create(MAPS)?])?;
    // Only the first who comes here has got past the line above.
    notes::begin(std::path::absolute(folder)?, file)
}

/// Keeps the copies of libraries of a host that is reported into `folder`, when that host is dead, until the result is
/// dropped. Without it the next host that starts removes them. For the process that reads of the crash; begun before the
/// host is.
///
/// # Errors
///
/// When the folder cannot be opened or locked.
pub fn keep_copies(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Notes that a copy is mapped no more, or could not be mapped.
pub(crate) fn gone(copy: &Path) {
    notes::gone(copy, imp::clock);
}
