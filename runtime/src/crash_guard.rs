//! Host part of the crash guard, for development. A crashing host writes a report. The supervisor of this host (`alcedo dev`, or `alcedo
//! guard` for any host) reads the report and locates the crash. The guard has no effect in a host without a supervisor.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Environment variable with the folder for crash reports. A supervisor sets this variable.
#[doc(hidden)]
pub const FOLDER: &str = "ALCEDO_CRASH_GUARD";

/// Environment variable for supervised hosts. If the value is `1`, the host also records backtraces of panics in plugin code.
pub const BACKTRACE: &str = "ALCEDO_BACKTRACE";

/// For a supervisor: keeps the library copies of a supervised host until the result is dropped. `folder` is the report folder of this host.
/// Without this call, the next host that starts after the supervised host has exited would remove these copies. Must be called before the
/// supervised host starts.
///
/// # Errors
/// Fails if the folder cannot be opened or locked.
pub fn keep_copies(folder: &Path) -> io::Result<File> {
    alcedo_sys::crash::keep_copies(folder)
}

/// Arms the guard if this process is supervised. Returns `true` if the guard is armed. Returns `false` in a process that a supervised host
/// has started, because the files of the reports belong to the host. The guard records a fatal signal with registers, stack and mappings.
/// After the record is written, the signal has its normal effect, such as ending the process. With [`BACKTRACE`], panics in plugin code are
/// also recorded: at most one per second, from at most sixteen locations.
///
/// Call this function near the start of `main`, after [`canary::run_if_child`](crate::canary::run_if_child), on the thread that becomes the
/// game thread. The guard then also reports stack overflows of the game thread.
///
/// # Errors
/// Fails if the folder cannot be written, or if the guard is already armed.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::crash_guard;
///
/// match crash_guard::arm_if_supervised() {
///     Ok(true) => println!("crashes are reported to the supervisor"),
///     Ok(false) => {}
///     Err(error) => eprintln!("crashes are not reported: {error}"),
/// }
/// ```
pub fn arm_if_supervised() -> io::Result<bool> {
    match std::env::var_os(FOLDER).map(PathBuf::from) {
        None => Ok(false),
        Some(folder) => {
            match alcedo_sys::crash::report_into(&folder) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                armed => armed?,
            }
            if std::env::var_os(BACKTRACE).is_some_and(|value| value == "1") {
                alcedo_sys::panics::report_into(&folder)?;
            }
            Ok(true)
        }
    }
}
