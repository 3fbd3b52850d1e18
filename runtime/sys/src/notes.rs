//! Notes of this process that a reader of a crash report needs beyond the registers: folders of copies, modules, where their images
//! are, and which have gone. They go into a file while all is well.

mod book;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use book::Book;

/// Lines of what was noted: folders of copies, modules, where their images are, and which have gone. It is written anew now
/// and then, under its name at once, so it stays short.
pub const NOTES: &str = "notes";

static NOTED: OnceLock<Notes> = OnceLock::new();
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// How many modules were noted.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The notes of this process.
struct Notes {
    /// A child that was made by `fork` has another number, and writes nothing.
    process: u32,
    folder: PathBuf,
    open: Mutex<(File, Book)>,
}

/// From now on notes of this process go into the file, which lies in `folder`. Once in a process.
///
/// # Errors
///
/// When it was done before.
pub(crate) fn begin(folder: PathBuf, file: File) -> io::Result<()> {
    let _first = FOLDER.set(folder.clone());
    let notes = Notes { process: std::process::id(), folder, open: Mutex::new((file, Book::default())) };
    NOTED.set(notes).map_err(|_| io::Error::other("crashes of this process are reported already"))
}

/// Where crashes of this process are written down, if they are.
pub(crate) fn reported_into() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// Notes a folder of private copies: a host that crashes cannot remove it. Costs a look while crashes are not reported, as the
/// other notes do.
pub fn stage(folder: &Path) {
    note(|book| Some(book.stage(folder)));
}

/// Notes that a copy is of this module: before it is mapped, since its initialisers may crash.
pub fn module(generation: u64, name: &str, copy: &Path) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    note(|book| Some(book.module(generation, name, copy)));
}

/// Notes where a copy is mapped.
pub(crate) fn mapped(copy: &Path, ranges: &[Range<usize>]) {
    note(|book| Some(book.mapped(copy, ranges)));
}

/// Notes that a copy is mapped no more, or could not be mapped. `now` is the time since some moment before the process began.
pub(crate) fn gone(copy: &Path, now: fn() -> Duration) {
    note(|book| book.gone(copy, now()));
}

/// How many modules were noted: it changes with each library that is loaded.
pub(crate) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Writes down what a reader of the crash report will need.
fn note(line: impl FnOnce(&mut Book) -> Option<String>) {
    let Some(notes) = NOTED.get().filter(|notes| notes.process == std::process::id()) else { return };
    let mut open = crate::lock(&notes.open);
    let (file, book) = &mut *open;
    let Some(line) = line(book) else { return };
    // One write, so that a death in between leaves a whole line or a piece of one, which no reader takes for a line. Without
    // it a report has names less.
    let _written = file.write_all(line.as_bytes());
    if book.is_long() {
        let whole = book.whole(Path::exists);
        // Where there is no room the old file goes on, which says the same.
        if let Ok(anew) = write_anew(&notes.folder, &whole) {
            *file = anew;
        }
    }
}

/// Puts a new file of notes in the place of the old one: who reads finds either of them, and whole.
fn write_anew(folder: &Path, whole: &str) -> io::Result<File> {
    let beside = folder.join("notes.new");
    let _stale = fs::remove_file(&beside);
    let mut file = OpenOptions::new().create_new(true).append(true).open(&beside)?;
    file.write_all(whole.as_bytes())?;
    fs::rename(&beside, folder.join(NOTES))?;
    Ok(file)
}
