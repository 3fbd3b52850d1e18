//! The last words of this process. A fatal signal is written down, for another process to read, before it ends us as it
//! would have anyhow. What has to be known for that beyond the registers is noted while all is well.
//!
//! The words go into files, not through a pipe: nobody has to be awake to take them, and however many there are, they
//! cannot block a process that is dying.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::imp;

/// Lines: what the signal was, and the registers.
pub const CRASH: &str = "crash";
/// The bytes of the stack, from the address that the crash names.
pub const STACK: &str = "stack";
/// What `/proc/self/maps` said.
pub const MAPS: &str = "maps";
/// Lines of [`note`].
pub const NOTES: &str = "notes";

static NOTED: OnceLock<File> = OnceLock::new();
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// How many notes there were.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// From now on a fatal signal of this process is written down in `folder`, which exists, before it takes its course.
/// What the process does about signals otherwise stays as it is. The calling thread gets a stack of its own for it, so
/// that an overflow of its usual one can be told as well. Once in a process; any thread.
///
/// # Errors
///
/// When the files cannot be made, it was done before, or the platform does not tell of its signals.
pub fn report_into(folder: &Path) -> io::Result<()> {
    let create = |name: &str| OpenOptions::new().create(true).append(true).open(folder.join(name));
    let notes = create(NOTES)?;
    imp::report_crashes([create(CRASH)?, create(STACK)?, create(MAPS)?])?;
    // Only the first who comes here has got past the line above.
    let _first = FOLDER.set(std::path::absolute(folder)?);
    NOTED.set(notes).map_err(|_| io::Error::other("crashes of this process are reported already"))
}

/// Where crashes of this process are written down, if they are.
pub(crate) fn reported_into() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
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

/// Writes down something that whoever reads of a crash will need. One line, and nothing while crashes are not reported.
pub fn note(line: impl FnOnce() -> String) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let Some(mut notes) = NOTED.get() else { return };
    // One write, so that lines of several threads do not mix. Without it a report has names less.
    let _written = notes.write_all(format!("{}\n", line().replace('\n', " ")).as_bytes());
}

/// How many notes there were: it changes with each library that is loaded.
pub(crate) fn notes() -> u64 {
    COUNT.load(Ordering::Relaxed)
}
