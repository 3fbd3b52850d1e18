//! Records facts for readers of crash reports: folders of copies, modules, and mapped and unmapped images. These records, called notes, are
//! written to a file during normal operation, because a crashing process cannot collect them.

mod image_log;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use image_log::ImageLog;

/// File with the noted folders of copies, modules, mapped and unmapped images, one per line. To limit its length, the file is atomically
/// replaced from time to time.
pub const NOTES: &str = "notes";

static NOTED: OnceLock<Notes> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

struct Notes {
    /// Id of the process that began the notes. A forked child process has a different id and therefore writes no notes.
    process: u32,
    folder: PathBuf,
    open: Mutex<(File, ImageLog)>,
}

/// Starts the notes of this process. `file` is an open file in `folder`. Callable once per process.
///
/// # Errors
///
/// Fails if notes were started before.
pub(crate) fn begin(folder: PathBuf, file: File) -> io::Result<()> {
    let notes = Notes { process: std::process::id(), folder, open: Mutex::new((file, ImageLog::default())) };
    NOTED.set(notes).map_err(|_| io::Error::other("crashes of this process are reported already"))
}

/// Returns the folder of the crash reports of this process. Returns `None` if crashes are not reported.
pub(crate) fn reported_into() -> Option<&'static Path> {
    NOTED.get().map(|notes| notes.folder.as_path())
}

/// Records a folder of private copies, because a crashing host cannot remove the folder itself. If crashes are not reported, this function
/// returns after one check.
pub fn stage(folder: &Path) {
    note(|log| Some(log.stage(folder, Path::exists)));
}

/// Records the module of a copy. Called before the copy is mapped, because the initializers of the copy may crash.
pub fn module(generation: u64, name: &str, copy: &Path) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    note(|log| Some(log.module(generation, name, copy)));
}

pub(crate) fn mapped(copy: &Path, ranges: &[Range<usize>]) {
    note(|log| Some(log.mapped(copy, ranges)));
}

/// Records that a copy was unmapped or could not be mapped. `now` returns the time since a fixed moment before the start of the process.
pub(crate) fn gone(copy: &Path, now: fn() -> Duration) {
    note(|log| log.gone(copy, now()));
}

/// Returns the number of recorded modules. The number changes with each loaded library.
pub(crate) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

fn note(line: impl FnOnce(&mut ImageLog) -> Option<String>) {
    let Some(notes) = NOTED.get().filter(|notes| notes.process == std::process::id()) else { return };
    let mut open = crate::lock(&notes.open);
    let (file, log) = &mut *open;
    let Some(line) = line(log) else { return };
    // Uses a single write, so that readers can ignore a partial line if the process ends during the write. If the write fails, reports
    // contain fewer names.
    let _written = file.write_all(line.as_bytes());
    if log.is_long() {
        // If the replacement fails, the old file stays in use, because it has the same content.
        if let Ok(new_file) = replace_file(&notes.folder, &log.whole()) {
            *file = new_file;
        }
    }
}

/// Replaces the file of notes atomically. Readers find either the complete old file or the complete new file.
fn replace_file(folder: &Path, whole: &str) -> io::Result<File> {
    let new_path = folder.join("notes.new");
    let _stale = fs::remove_file(&new_path);
    let mut file = OpenOptions::new().create_new(true).append(true).open(&new_path)?;
    file.write_all(whole.as_bytes())?;
    fs::rename(&new_path, folder.join(NOTES))?;
    Ok(file)
}
