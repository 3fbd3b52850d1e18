//! Reports of panics with their call stacks. `panic_locations` selects the panics to report, and `imp` writes the reports.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::imp;

pub use crate::panic_locations::At;

/// File with a line `panic <slot>` for each reported panic. The slot has two digits. The files `crash-<slot>`, `maps-<slot>` and
/// `stack-<slot>` are written before this line.
pub const PANICS: &str = "panics";

/// Starts reports into the existing `folder` for panics that are passed to [`record`]. This function may be called on any thread.
///
/// # Errors
///
/// The folder cannot be opened, or the list cannot be created.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let list = OpenOptions::new().create(true).append(true).open(folder.join(PANICS))?;
    imp::report_panics(File::open(folder)?, list);
    Ok(())
}

/// Writes a report with the call stack of this thread, if panics are reported. Otherwise returns after one atomic load. Panic hooks may
/// call this function on any thread, because it neither allocates memory nor waits for other threads.
pub fn record(at: &At<'_>, message: &str) {
    imp::write_panic(at, message);
}
