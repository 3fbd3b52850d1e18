//! Panics that are written down with their calls: `panic_places` decides which, `imp` writes.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::imp;

pub use crate::panic_places::At;

/// Lines `panic <slot>`, one for each panic that was written down, behind all of its files: `crash-<slot>`, `maps-<slot>` and
/// `stack-<slot>`, each slot of two digits there.
pub const PANICS: &str = "panics";

/// From now on panics that [`tell`] is called for are written down in `folder`, which exists. Any thread.
///
/// # Errors
///
/// When the folder cannot be opened, or the list not be made.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let list = OpenOptions::new().create(true).append(true).open(folder.join(PANICS))?;
    imp::report_panics(File::open(folder)?, list);
    Ok(())
}

/// Writes down the calls of this thread if panics are reported, and looks at one word if not. For a panic hook, on any thread:
/// it allocates nothing and waits for no other thread.
pub fn tell(at: &At<'_>) {
    imp::tell_panic(at);
}

/// Whether they are reported.
pub(crate) fn are_told() -> bool {
    imp::panics_are_told()
}
