//! Notes of this process for readers of crash reports: folders of copies, modules, mapped images, and unmapped images. The notes are
//! written to a file during normal operation.

mod image_log;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use image_log::ImageLog;

/// File with the noted folders of copies, modules, mapped and unmapped images, one per line. The file is replaced atomically from time to
/// time, to keep it short.
pub const NOTES: &str = "notes";

static NOTED: OnceLock<Notes> = OnceLock::new();
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

struct Notes {
    /// Forked child processes have another id and write no notes.
    process: u32,
    folder: PathBuf,
    open: Mutex<(File, ImageLog)>,
}

/// Directs the notes of this process to the file, which is in `folder`. This function may be called once per process.
///
/// # Errors
///
/// Fails if notes were started before.
pub(crate) fn begin(folder: PathBuf, file: File) -> io::Result<()> {
    let _first = FOLDER.set(folder.clone());
    let notes = Notes { process: std::process::id(), folder, open: Mutex::new((file, ImageLog::default())) };
    NOTED.set(notes).map_err(|_| io::Error::other("crashes of this process are reported already"))
}

/// Returns the folder of the crash reports of this process, if there is one.
pub(crate) fn reported_into() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// Notes a folder of private copies, which a crashing host cannot remove. Like every note, this call costs one check while crashes are not
/// reported.
pub fn stage(folder: &Path) {
    note(|log| Some(log.stage(folder)));
}

/// Notes the module of a copy. This function is called before the copy is mapped, since its initializers may crash.
pub fn module(generation: u64, name: &str, copy: &Path) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    note(|log| Some(log.module(generation, name, copy)));
}

pub(crate) fn mapped(copy: &Path, ranges: &[Range<usize>]) {
    note(|log| Some(log.mapped(copy, ranges)));
}

/// Notes that a copy was unmapped or could not be mapped. `now` is the time since a fixed moment before the start of the process.
pub(crate) fn gone(copy: &Path, now: fn() -> Duration) {
    note(|log| log.gone(copy, now()));
}

/// Returns the number of noted modules, which changes with each loaded library.
pub(crate) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

fn note(line: impl FnOnce(&mut ImageLog) -> Option<String>) {
    let Some(notes) = NOTED.get().filter(|notes| notes.process == std::process::id()) else { return };
    let mut open = crate::lock(&notes.open);
    let (file, log) = &mut *open;
    let Some(line) = line(log) else { return };
    // Uses a single write: if the process ends during the write, readers ignore the partial line. If the write fails, reports contain fewer
    // names.
    let _written = file.write_all(line.as_bytes());
    if log.is_long() {
        let whole = log.whole(Path::exists);
        // If the replacement fails, the old file with the same content is kept.
        if let Ok(new_file) = replace_file(&notes.folder, &whole) {
            *file = new_file;
        }
    }
}

/// Replaces the file of notes atomically; readers find the old or the new file, both complete.
fn replace_file(folder: &Path, whole: &str) -> io::Result<File> {
    let new_path = folder.join("notes.new");
    let _stale = fs::remove_file(&new_path);
    let mut file = OpenOptions::new().create_new(true).append(true).open(&new_path)?;
    file.write_all(whole.as_bytes())?;
    fs::rename(&new_path, folder.join(NOTES))?;
    Ok(file)
}
