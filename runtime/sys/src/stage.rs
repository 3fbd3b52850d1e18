//! Private copies of library files, so that the build may overwrite its own at once.
//!
//! The loader knows an image by its name before it looks at the file, so a name used twice gets the old image back.
//! Names are therefore numbered through the whole process and never used again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;
use thiserror::Error;

use crate::image::ImageFile;

/// Counts for the process, not for a directory: a directory's random name may come up again, this does not.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What the name of a spare file ends in.
const SPARE: &str = "spare";

/// A directory for the copies of one runtime, readable by this user only, removed with all its files on drop.
///
/// Images that are mapped from it stay mapped. The files of those that are gone are kept for the next copies, under a name
/// that ends in `.spare`. Any thread may stage.
#[derive(Debug)]
pub struct StageDir {
    path: PathBuf,
    spares: Arc<Spares>,
    /// Removes the directory when it goes.
    _dir: TempDir,
}

/// A copy that was written whole under a name of its own. Dropping it removes the file, not what is mapped from it.
#[derive(Debug)]
pub struct StagedFile {
    path: PathBuf,
    /// What is written over it when it is mapped, and where in the file.
    patches: Vec<(u64, Vec<u8>)>,
    symbols: Option<PathBuf>,
    /// Where the file may go when its image is gone. None if it is not ours to remove: another process made it, or it has
    /// gone there.
    home: Option<Arc<Spares>>,
}

/// Files of images that are gone from this process, without a trace. Writing over one costs a fraction of a new one, whose
/// every page the system has to find first.
#[derive(Debug, Default)]
struct Spares(Mutex<Vec<PathBuf>>);

impl Spares {
    /// More are not kept.
    const MOST: usize = 8;

    fn take(&self) -> Option<PathBuf> {
        self.lock().pop()
    }

    /// Takes the file under a name of its own. Whether there was room.
    fn put(&self, path: &Path) -> bool {
        let mut spares = self.lock();
        if spares.len() >= Self::MOST {
            return false;
        }
        let spare = path.with_extension(SPARE);
        let is_renamed = fs::rename(path, &spare).is_ok();
        if is_renamed {
            spares.push(spare);
        }
        is_renamed
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes to write over the copy of a library: the section's name, where in it they go, and the bytes.
pub type Patch<'a> = (&'a str, usize, &'a [u8]);

/// A copy could not be written.
#[derive(Debug, Error)]
#[error("cannot stage {}: {source}; check the free space there, or point TMPDIR elsewhere", path.display())]
pub struct StageError {
    /// The copy that was being written.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl StageDir {
    /// Makes a fresh directory below the system's temporary directory.
    ///
    /// # Errors
    ///
    /// Whatever the system says when it cannot make the directory there; `TMPDIR` chooses another place. It must not be
    /// mounted `noexec`, which shows only when a file is mapped.
    pub fn new() -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("alcedo-stage-").tempdir()?;
        // The system reports mapped files by their real path, so the names given to the loader are real ones too.
        let path = fs::canonicalize(dir.path())?;
        Ok(Self { path, spares: Arc::default(), _dir: dir })
    }

    /// The directory, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a copy named after `label`; whatever in it does not suit a file name becomes `_`.
    ///
    /// # Errors
    ///
    /// [`StageError`] when the copy cannot be written; what was written of it is removed again.
    pub fn stage(&self, image: &ImageFile, label: &str) -> Result<StagedFile, StageError> {
        self.stage_with(image, label, None, &[])
    }

    /// Writes a copy whose sections are to differ from the library's by `patches`, and the bytes of a symbol file beside
    /// it under the same name and `.debug`.
    ///
    /// The patches are written when the copy is mapped. Until then it holds the library's own bytes, so that another
    /// process may map it first: an address of this process would mean nothing there.
    ///
    /// # Errors
    ///
    /// [`StageError`] when a patch does not lie inside its section as it stands in the file, or a file cannot be
    /// written; what was written is removed again.
    pub fn stage_with(
        &self,
        image: &ImageFile,
        label: &str,
        symbols: Option<&[u8]>,
        patches: &[Patch<'_>],
    ) -> Result<StagedFile, StageError> {
        let staged = self.named(label);
        let written = placed(image, patches).and_then(|patches| {
            let mut file = self.create(&staged)?;
            file.write_all(image.bytes())?;
            file.set_len(image.bytes().len() as u64)?;
            Ok(patches)
        });
        staged.finished(written, symbols)
    }

    /// The same for a library that was looked at as a private copy: that one is taken, under its new name. Another one is
    /// copied.
    ///
    /// # Errors
    ///
    /// As for [`StageDir::stage_with`].
    pub fn stage_whole(
        &self,
        image: ImageFile,
        label: &str,
        symbols: Option<&[u8]>,
        patches: &[Patch<'_>],
    ) -> Result<StagedFile, StageError> {
        if !image.is_copy() {
            return self.stage_with(&image, label, symbols, patches);
        }
        let staged = self.named(label);
        let renamed = placed(&image, patches).and_then(|patches| {
            let copy = image.into_copy().ok_or_else(|| io::Error::other("there is no copy"))?;
            // Nothing is left at the old name for its drop to remove.
            fs::rename(&copy.path, &staged.path)?;
            Ok(patches)
        });
        staged.finished(renamed, symbols)
    }

    /// A new copy, which is empty or holds anything; it may be read and written.
    pub(crate) fn fresh(&self, label: &str) -> io::Result<(StagedFile, File)> {
        let staged = self.named(label);
        let file = self.create(&staged)?;
        Ok((staged, file))
    }

    /// The file of that name, new or a spare one.
    fn create(&self, staged: &StagedFile) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match self.spares.take() {
            Some(spare) if fs::rename(&spare, &staged.path).is_ok() => options.open(&staged.path),
            _ => options.create_new(true).open(&staged.path),
        }
    }

    /// A name for a copy, which is not there yet.
    fn named(&self, label: &str) -> StagedFile {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.path.join(file_name(label, number));
        let home = Some(Arc::clone(&self.spares));
        StagedFile { path, patches: Vec::new(), symbols: None, home }
    }
}

impl StagedFile {
    /// A copy that another process staged, and will remove.
    pub fn of_another(path: &Path) -> Self {
        Self { path: path.to_owned(), patches: Vec::new(), symbols: None, home: None }
    }

    /// Where the copy is: absolute, without symbolic links, never the path of an earlier copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// With its patches, and the bytes of a symbol file beside it.
    fn finished(
        mut self,
        patches: io::Result<Vec<(u64, Vec<u8>)>>,
        symbols: Option<&[u8]>,
    ) -> Result<Self, StageError> {
        self.patches = patches.map_err(|source| StageError { path: self.path.clone(), source })?;
        if let Some(bytes) = symbols {
            let path = PathBuf::from(format!("{}.debug", self.path.display()));
            self.symbols = Some(path.clone());
            write_new(&path, bytes).map_err(|source| StageError { path, source })?;
        }
        Ok(self)
    }

    /// Writes the patches.
    pub(crate) fn patch(&self) -> io::Result<()> {
        if self.patches.is_empty() {
            return Ok(());
        }
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        for (at, bytes) in &self.patches {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(bytes)?;
        }
        Ok(())
    }

    /// Gives the file back to be written over. Its image is gone, and this process maps none of its bytes.
    pub(crate) fn recycle(mut self) {
        self.home = self.home.take().filter(|home| !home.put(&self.path));
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

/// Where in the file the patches go.
fn placed(image: &ImageFile, patches: &[Patch<'_>]) -> io::Result<Vec<(u64, Vec<u8>)>> {
    let place = |(section, offset, patch): &Patch<'_>| {
        let misfit = || io::Error::other(format!("{} bytes at {offset} do not fit section {section}", patch.len()));
        let range = image.section_range(section).ok_or_else(misfit)?;
        let start = range.start.checked_add(*offset).ok_or_else(misfit)?;
        let end = start.checked_add(patch.len()).filter(|end| *end <= range.end);
        end.map(|_| (start as u64, patch.to_vec())).ok_or_else(misfit)
    };
    patches.iter().map(place).collect()
}

/// Closing the file is all it takes to map it: both go through the same cache, and no copy outlives a power cut.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
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
