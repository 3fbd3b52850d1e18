//! A host's part of the crash guard, which is for development. A program that supervises the host finds out where it
//! crashed, from what the host writes down in its last moment: `alcedo dev` does, and `alcedo guard` for any host. A
//! host without a supervisor is not affected.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The variable by which a supervisor names the folder for last words.
pub const FOLDER: &str = "ALCEDO_CRASH_GUARD";

/// The variable that makes a supervised host, with `1`, write down the calls of panics in plugin code as well.
pub const BACKTRACE: &str = "ALCEDO_BACKTRACE";

/// For a supervisor: keeps the copies of libraries of the host that reports into `folder`, when that host is dead, until
/// the result is dropped. Any other host that starts would remove them. Begun before the host is.
///
/// # Errors
/// When the folder cannot be opened or locked.
pub fn keep_copies(folder: &Path) -> io::Result<File> {
    alcedo_sys::crash::keep_copies(folder)
}

/// Arms the guard if this process is supervised: a fatal signal is written down, with registers, stack and what is
/// mapped, and then takes its course. With [`BACKTRACE`] so is each place in plugin code that panics, at most once a second and
/// sixteen places at most. Returns whether it is armed. It belongs near the beginning of `main`, behind
/// [`canary::run_if_child`](crate::canary::run_if_child), on the thread that becomes the game thread: that thread's
/// stack overflows are reported as well.
///
/// # Errors
/// When the folder cannot be written to, or the guard is armed already.
pub fn arm_if_supervised() -> io::Result<bool> {
    match std::env::var_os(FOLDER).map(PathBuf::from) {
        None => Ok(false),
        Some(folder) => {
            alcedo_sys::crash::report_into(&folder)?;
            if std::env::var_os(BACKTRACE).is_some_and(|value| value == "1") {
                alcedo_sys::panics::report_into(&folder)?;
            }
            Ok(true)
        }
    }
}
