//! The last words of this process. A fatal signal is written down, for another process to read, before it ends us as it
//! would have anyhow. What has to be known for that beyond the registers is noted while all is well.
//!
//! The words go into files, not through a pipe: no reader has to run at the time, and however many there are, they
//! cannot block a process that is dying.

mod book;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::imp;
use book::Book;

/// Lines: what the signal was, and the registers.
pub const CRASH: &str = "crash";
/// The bytes of the stack, from the address that the crash names.
pub const STACK: &str = "stack";
/// What `/proc/self/maps` said.
pub const MAPS: &str = "maps";
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
    let folder = std::path::absolute(folder)?;
    // Only the first who comes here has got past the line above.
    let _first = FOLDER.set(folder.clone());
    let notes = Notes { process: std::process::id(), folder, open: Mutex::new((file, Book::default())) };
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

/// Notes that a copy is mapped no more, or could not be mapped.
pub(crate) fn gone(copy: &Path) {
    note(|book| book.gone(copy, imp::clock()));
}

/// How many modules were noted: it changes with each library that is loaded.
pub(crate) fn notes() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Writes down what a reader of the crash report will need.
fn note(line: impl FnOnce(&mut Book) -> Option<String>) {
    let Some(notes) = NOTED.get().filter(|notes| notes.process == std::process::id()) else { return };
    let mut open = notes.open.lock().unwrap_or_else(PoisonError::into_inner);
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
