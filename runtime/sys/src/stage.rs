//! Private copies of library files, so that the build may overwrite its own at once.
//!
//! The loader knows an image by its name before it looks at the file, so a name used twice gets the old image back.
//! Names are therefore numbered through the whole process and never used again.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;
use thiserror::Error;

use crate::image::ImageFile;

/// Counts for the process, not for a directory: a directory's random name may come up again, this does not.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A directory for the copies of one runtime, readable by this user only, removed with all its files on drop.
///
/// Images that are mapped from it stay mapped. Any thread may stage.
#[derive(Debug)]
pub struct StageDir {
    path: PathBuf,
    /// Removes the directory when it goes.
    _dir: TempDir,
}

/// A copy that was written whole under a name of its own. Dropping it removes the file, not what is mapped from it.
#[derive(Debug)]
pub struct StagedFile {
    path: PathBuf,
}

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
        Ok(Self { path, _dir: dir })
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
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let staged = StagedFile { path: self.path.join(file_name(label, number)) };
        match write_new(&staged.path, image.bytes()) {
            Ok(()) => Ok(staged),
            Err(source) => Err(StageError { path: staged.path.clone(), source }),
        }
    }
}

impl StagedFile {
    /// Where the copy is: absolute, without symbolic links, never the path of an earlier copy.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        match fs::remove_file(&self.path) {
            Ok(()) => {}
            // The directory may have gone first and taken the file with it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(path = %self.path.display(), %error, "a staged copy stays behind"),
        }
    }
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
