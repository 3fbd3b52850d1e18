//! Private copies of library files, so that the build may overwrite its own at once.
//!
//! The loader identifies an image by its name before it looks at the file, so a name used twice gets the old image
//! back. Names are therefore numbered through the whole process and never used again.
//!
//! What is mapped is the file that was checked. The descriptor through which a copy was written is kept until it is mapped,
//! with what the system has recorded of the file (its inode, its length, when it changed), and all of that must be the
//! same right before the loader opens the copy by its name, and right after. The name is the file's real one: under the
//! descriptor's own (`/proc/<pid>/fd/<n>`) debuggers would not find the file, nor would a reader of a crash report when
//! the process is gone, and the loader would take two images for one when a number comes up again. That no program
//! swaps the file while the loader looks is up to the folder ([`Folder`]): only this user may write there, and in the
//! folders above only who may as well be this user. Against this user's own programs nothing helps, since they may
//! write into this process too.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use thiserror::Error;

use crate::demands::Demands;
use crate::folder::{Folder, create_private, open_private};
use crate::panics;
use crate::stamp::{FileId, Stamp};

/// Counts for the process, not for a directory: a directory's random name may come up again, this does not.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What the name of a spare file ends in.
const SPARE: &str = "spare";

/// A directory for the copies of one runtime, readable by this user only, removed with all its files on drop. If a program
/// removes it before, the next copy creates it again.
///
/// Images that are mapped from it stay mapped. The files of those that are gone are kept for the next copies, under a name
/// that ends in `.spare`. Any thread may stage.
#[derive(Debug)]
pub struct StageDir {
    demands: Demands,
    spares: Arc<Spares>,
    folder: Folder,
}

/// A copy that was written whole under a name of its own. Dropping it removes the file, not what is mapped from it.
#[derive(Debug)]
pub struct StagedFile {
    path: PathBuf,
    /// What is written over it when it is mapped, and where in the file.
    patches: Vec<(u64, Vec<u8>)>,
    symbols: Option<PathBuf>,
    /// The names of the libraries that it needs.
    needed: Vec<String>,
    /// The file itself. None for a copy of another process before it is looked at.
    held: Option<Held>,
    /// Where the file may go when its image is gone. None if it is not ours to remove: another process made it, or it has
    /// gone there.
    home: Option<Arc<Spares>>,
}

/// A file as it was when it was written whole.
#[derive(Debug)]
struct Held {
    /// Open until it is mapped.
    file: Option<File>,
    stamp: Stamp,
}

/// Files of images that are gone from this process, without a trace. Writing over one costs a fraction of a new one, whose
/// every page the system has to find first.
#[derive(Debug, Default)]
struct Spares(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// To be written over next.
    spares: Vec<(PathBuf, FileId)>,
    /// Still under their names, oldest first: a panic in one of them may be read about, whose calls are found in it.
    resting: VecDeque<(PathBuf, FileId)>,
}

impl Spares {
    /// More are not kept of each kind.
    const MOST: usize = 8;

    fn take(&self) -> Option<(PathBuf, FileId)> {
        self.lock().spares.pop()
    }

    /// Takes the file, under a name of its own once it may be written over. Gives one that there is no room for.
    fn put(&self, path: PathBuf, id: FileId) -> Option<PathBuf> {
        let mut kept = self.lock();
        let (path, id) = match panics::are_told() {
            false => (path, id),
            true => {
                kept.resting.push_back((path, id));
                if kept.resting.len() <= Self::MOST {
                    return None;
                }
                kept.resting.pop_front()?
            }
        };
        let spare = path.with_extension(SPARE);
        if kept.spares.len() >= Self::MOST || fs::rename(&path, &spare).is_err() {
            return Some(path);
        }
        kept.spares.push((spare, id));
        None
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        crate::lock(&self.0)
    }
}

/// A copy could not be written.
#[derive(Debug, Error)]
#[error(
    "cannot stage {} as {}: {source}; make room there, or let TMPDIR name a folder that has some",
    library.display(), path.display()
)]
pub struct StageError {
    /// The library that was to be staged.
    pub library: PathBuf,
    /// The copy that was being written.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl StageDir {
    /// Makes a fresh directory below the system's temporary directory, with mode 0700, for libraries of any maker.
    /// Directories of this user whose processes were killed are removed.
    ///
    /// # Errors
    ///
    /// Whatever the system says when it cannot make the directory there, and when others could put theirs in its place;
    /// `TMPDIR` chooses another place. It must not be mounted `noexec`, which shows only when a file is mapped.
    pub fn new() -> io::Result<Self> {
        Self::demanding(Demands::default())
    }

    /// The same, for libraries that meet `demands`. No other is staged here.
    ///
    /// # Errors
    ///
    /// As for [`StageDir::new`].
    pub fn demanding(demands: Demands) -> io::Result<Self> {
        Ok(Self { demands, spares: Arc::default(), folder: Folder::new()? })
    }

    /// The directory, without symbolic links.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What is demanded of every library that is staged here.
    pub fn demands(&self) -> &Demands {
        &self.demands
    }

    /// A new copy, which is empty or holds anything; it may be read and written.
    pub(crate) fn fresh(&self, label: &str) -> io::Result<(StagedFile, File)> {
        let staged = self.named(label);
        let file = self.create(&staged)?;
        Ok((staged, file))
    }

    /// The file of that name, new or a spare one.
    pub(crate) fn create(&self, staged: &StagedFile) -> io::Result<File> {
        if let Some((spare, id)) = self.spares.take()
            && fs::rename(&spare, &staged.path).is_ok()
        {
            match open_private(&staged.path, true) {
                Ok(file) if FileId::of(&file.metadata()?) == id => return Ok(file),
                // It is not what was put there.
                _ => fs::remove_file(&staged.path)?,
            }
        }
        match create_private(&staged.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.folder.renew()?;
                create_private(&staged.path)
            }
            created => created,
        }
    }

    /// A name for a copy, which is not there yet.
    pub(crate) fn named(&self, label: &str) -> StagedFile {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.path().join(file_name(label, number));
        let home = Some(Arc::clone(&self.spares));
        StagedFile { path, patches: Vec::new(), symbols: None, needed: Vec::new(), held: None, home }
    }
}

impl StagedFile {
    /// A copy that another process of this user staged, and will remove. It is looked at when it is mapped: whether it is a
    /// file that no other user may write.
    pub fn of_another(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path, patches: Vec::new(), symbols: None, needed: Vec::new(), held: None, home: None }
    }

    /// Where the copy is: absolute, without symbolic links, never the path of an earlier copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// With its patches, and the bytes of a symbol file beside it.
    pub(crate) fn finished(
        mut self,
        library: &Path,
        patches: io::Result<Vec<(u64, Vec<u8>)>>,
        symbols: Option<&[u8]>,
    ) -> Result<Self, StageError> {
        let failed = |path: &Path, source| StageError { library: library.to_owned(), path: path.to_owned(), source };
        self.patches = patches.map_err(|source| failed(&self.path, source))?;
        if let Some(bytes) = symbols {
            let path = PathBuf::from(format!("{}.debug", self.path.display()));
            self.symbols = Some(path.clone());
            // Closing the file is all it takes to read it: both go through the same cache, and no copy outlives a power cut.
            let written = create_private(&path).and_then(|mut file| file.write_all(bytes));
            written.map_err(|source| failed(&path, source))?;
        }
        Ok(self)
    }

    /// It needs the libraries of these names.
    pub(crate) fn needs(&mut self, libraries: &[String]) {
        libraries.clone_into(&mut self.needed);
    }

    /// Takes the file of another copy, which has not been written to since it was held, under its own name.
    pub(crate) fn take(&mut self, mut other: Self) -> io::Result<()> {
        other.ensure_unchanged()?;
        let file = other.held.take().and_then(|held| held.file);
        // Nothing is left at the old name for its drop to remove.
        fs::rename(&other.path, &self.path)?;
        self.hold(file.ok_or_else(|| io::Error::other("the copy was mapped before"))?)
    }

    /// This is the file, and as it is now it is whole.
    pub(crate) fn hold(&mut self, file: File) -> io::Result<()> {
        let stamp = Stamp::of(&file.metadata()?);
        self.held = Some(Held { file: Some(file), stamp });
        Ok(())
    }

    /// Makes the file ready to be mapped: sees that it is what was checked, and writes the patches.
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        if self.held.is_none() {
            self.hold(open_private(&self.path, false)?)?;
        }
        self.ensure_unchanged()?;
        let Some(mut file) = self.held.as_mut().and_then(|held| held.file.take()) else { return Ok(()) };
        for (at, bytes) in &self.patches {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(bytes)?;
        }
        self.hold(file)
    }

    /// Whether the file has not been written to since it was held, and it is still what its name leads to.
    pub(crate) fn ensure_unchanged(&self) -> io::Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let is_same = |found: &fs::Metadata| Stamp::of(found) == held.stamp;
        let named = fs::symlink_metadata(&self.path)?;
        match held.file.as_ref().map(File::metadata).transpose()?.as_ref().is_none_or(is_same) && is_same(&named) {
            true => Ok(()),
            false => Err(io::Error::other("it was written to since it was checked, or another was put in its place")),
        }
    }

    /// Whether no private copy has the name of a library that this one needs. One that looks for libraries beside itself
    /// (`$ORIGIN`) would have the loader map that copy, before it is patched and unnoticed by the code that unmaps it.
    pub(crate) fn ensure_needs_no_copy(&self) -> Result<(), String> {
        let there = self.needed.iter().find(|name| fs::symlink_metadata(self.path.with_file_name(name)).is_ok());
        there.map_or(Ok(()), |name| {
            Err(format!(
                "it needs {name}, which is the name of a private copy of another module; let its manifest name that module"
            ))
        })
    }

    /// It is mapped: the descriptor is not needed any more.
    pub(crate) fn close(&mut self) {
        self.held.iter_mut().for_each(|held| held.file = None);
    }

    /// Gives the file back to be written over. Its image is gone, and this process maps none of its bytes.
    pub(crate) fn recycle(mut self) {
        if let (Some(held), Some(home)) = (self.held.take(), &self.home) {
            match home.put(self.path.clone(), held.stamp.id()) {
                None => self.home = None,
                // This one, or one that came before it.
                Some(path) => self.path = path,
            }
        }
    }

    /// Where the bytes of its symbol file are, if there were any.
    pub fn symbols(&self) -> Option<&Path> {
        self.symbols.as_deref()
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        let file = self.home.is_some().then_some(&self.path);
        for path in file.into_iter().chain(&self.symbols) {
            match fs::remove_file(path) {
                Ok(()) => {}
                // The directory may have gone first and taken the file with it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => tracing::warn!(path = %path.display(), %error, "a staged copy stays behind"),
            }
        }
    }
}

/// The loader expands `$` in names and takes `/` for a directory, so only plain characters are kept.
fn file_name(label: &str, number: u64) -> String {
    const LONGEST: usize = 100; // file systems allow 255 bytes
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let label: String = label.chars().take(LONGEST).map(plain).collect();
    format!("{label}.{number}{}", std::env::consts::DLL_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::file_name;

    fn check(label: &str, number: u64, expected: &str) {
        assert_eq!(file_name(label, number), format!("{expected}{}", std::env::consts::DLL_SUFFIX));
    }

    #[test]
    fn a_plain_label_is_kept() {
        check("weather-2.1", 7, "weather-2.1.7");
    }

    #[test]
    fn a_label_cannot_leave_the_directory_or_be_expanded() {
        check("../$ORIGIN/a b", 0, "..__ORIGIN_a_b.0");
    }

    #[test]
    fn a_long_label_is_cut() {
        check(&"x".repeat(300), 1, &format!("{}.1", "x".repeat(100)));
    }
}
