//! Private copies of library files. A build may overwrite the original files at any time.
//!
//! The loader looks up an image by name before it opens a file, so a reused name would return the old image. Each name therefore contains a
//! number that is unique in the process.
//!
//! The mapped file must be the file that was checked. The descriptor that wrote a copy stays open until the copy is mapped. Right before
//! and right after the loader opens the copy by name, the file attributes (inode, length, change time) must be unchanged. The loader
//! receives the real path instead of the path of the descriptor (`/proc/<pid>/fd/<n>`), at which debuggers and readers of crash reports
//! could not find the file. Also, the loader would confuse two images with the same descriptor number. Other users cannot replace the file
//! during loading, because only this user may write to the folder ([`PrivateFolder`]), and only users with equal rights may write to its
//! ancestors. Programs of this user cannot be excluded, but may also write into this process.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use thiserror::Error;

use crate::demands::Demands;
use crate::folder::{COPIES, PrivateFolder, create_private, for_mapping, open_private};
use crate::imp;
use crate::stamp::{FileId, Stamp};

/// Number of the next copy, unique in the process. Distinguishes copies in directories whose random names are equal.
static NEXT: AtomicU64 = AtomicU64::new(0);

const SPARE: &str = "spare";

/// Directory for the copies of one runtime. Only this user may read the directory. Dropping this value removes the directory with all its
/// files. If the directory was deleted, the next copy creates the directory again.
///
/// Dropping the directory does not unmap images. Files of unmapped images are kept for later copies, with names that end in `.spare`. Any
/// thread may stage files.
#[derive(Debug)]
pub struct StageDir {
    demands: Demands,
    spares: Arc<Spares>,
    folder: PrivateFolder,
}

/// Complete copy under a unique name. Dropping the value removes the file. Existing mappings of the file stay valid.
#[derive(Debug)]
pub struct StagedFile {
    path: PathBuf,
    /// Patches, as file offsets and bytes, that are written when the copy is mapped.
    patches: Vec<(u64, Vec<u8>)>,
    symbols: Option<PathBuf>,
    /// Names of the libraries that the copy needs.
    needed: Vec<String>,
    /// The open file. `None` for a copy that another process has made and this process has not inspected yet.
    held: Option<Held>,
    /// Store that receives the file after its image was unmapped. `None` if this process must not remove the file, or after the transfer.
    spares: Option<Arc<Spares>>,
}

/// Complete file, with its attributes at the time of completion.
#[derive(Debug)]
struct Held {
    /// Open until the copy is mapped.
    file: Option<File>,
    stamp: Stamp,
}

/// Files of unmapped images to which no references remain, called spare files. Overwriting a spare file is much faster than creating a
/// file, for which the system must allocate every page.
#[derive(Debug, Default)]
struct Spares(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    spares: Vec<(PathBuf, FileId)>,
    /// Files that still have the name of their image, oldest first. A panic report may need this name to resolve its call stack.
    resting: VecDeque<(PathBuf, FileId)>,
}

impl Spares {
    /// Maximum number of spare files, and of resting files.
    const MOST: usize = 8;

    fn take(&self) -> Option<(PathBuf, FileId)> {
        crate::lock(&self.0).spares.pop()
    }

    /// Stores the file, and renames it once it may be overwritten. If the store is full, returns a file that the caller must remove.
    fn put(&self, path: PathBuf, id: FileId) -> Option<PathBuf> {
        let mut kept = crate::lock(&self.0);
        let (path, id) = match imp::are_panics_reported() {
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
}

/// Error of a failed copy.
#[derive(Debug, Error)]
#[error(
    "cannot stage {} as {}: {source}; free space there, or set TMPDIR to a folder with free space",
    library.display(), path.display()
)]
pub struct StageError {
    /// Library that was being staged.
    pub library: PathBuf,
    /// Path of the incomplete copy.
    pub path: PathBuf,
    /// System error.
    pub source: io::Error,
}

impl StageDir {
    /// Creates a directory below the system's temporary directory, with mode 0700, for libraries without demands. Removes directories that
    /// killed processes of this user left.
    ///
    /// # Errors
    ///
    /// Returns the system error if the directory cannot be created, or an error if other users could replace it. `TMPDIR` selects another
    /// location, which must not be mounted `noexec`. This option is detected only when a file is mapped.
    pub fn new() -> io::Result<Self> {
        Self::demanding(Demands::default())
    }

    /// Creates a directory for libraries that meet `demands`. Staging any other library fails.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`StageDir::new`].
    pub fn demanding(demands: Demands) -> io::Result<Self> {
        Ok(Self { demands, spares: Arc::default(), folder: PrivateFolder::new(COPIES)? })
    }

    /// Returns the directory, without symbolic links.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the demands for staged libraries.
    pub fn demands(&self) -> &Demands {
        &self.demands
    }

    /// Writes `bytes` to a file under a unique name. The file is not meant for mapping. Creates the directory again if it was deleted.
    ///
    /// # Errors
    ///
    /// Returns the system error. No file is then left.
    pub fn write(&self, label: &str, bytes: &[u8]) -> io::Result<StagedFile> {
        let (staged, mut file) = self.fresh(label)?;
        file.write_all(bytes)?;
        // A reused spare file may be longer than the new content.
        file.set_len(bytes.len() as u64)?;
        Ok(staged)
    }

    /// Makes a readable and writable copy with undefined content.
    pub(crate) fn fresh(&self, label: &str) -> io::Result<(StagedFile, File)> {
        let staged = self.named(label, &[]);
        let file = self.create(&staged)?;
        Ok((staged, file))
    }

    /// Creates the file of this name, or reuses a spare file.
    pub(crate) fn create(&self, staged: &StagedFile) -> io::Result<File> {
        if let Some((spare, id)) = self.spares.take()
            && fs::rename(&spare, &staged.path).is_ok()
        {
            match open_private(&staged.path, true) {
                Ok(file) if FileId::of(&file.metadata()?) == id => return Ok(file),
                // Removes a different file that has replaced the spare file.
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

    /// Makes a name for a copy of a library that needs these libraries, without creating a file.
    pub(crate) fn named(&self, label: &str, needed: &[String]) -> StagedFile {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.path().join(file_name(label, number));
        let spares = Some(Arc::clone(&self.spares));
        StagedFile { path, patches: Vec::new(), symbols: None, needed: needed.to_vec(), held: None, spares }
    }
}

impl StagedFile {
    /// Returns the staged file at this path, which another process of this user has staged and will remove. When the file is mapped, it is
    /// checked that no other user may write to it.
    pub fn of_another(path: &Path) -> Self {
        let path = path.to_owned();
        Self { path, patches: Vec::new(), symbols: None, needed: Vec::new(), held: None, spares: None }
    }

    /// Returns the path of the copy: absolute, without symbolic links, never the path of an earlier copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the patches to the copy, and writes a symbol file next to it.
    pub(crate) fn finished(
        mut self,
        library: &Path,
        patches: io::Result<Vec<(u64, Vec<u8>)>>,
        symbols: Option<&[u8]>,
    ) -> Result<Self, StageError> {
        let failed = |path: &Path, source| StageError { library: library.to_owned(), path: path.to_owned(), source };
        self.patches = patches.map_err(|source| failed(&self.path, source))?;
        if let Some(bytes) = symbols {
            let path = self.path.with_added_extension("debug");
            self.symbols = Some(path.clone());
            // Does not flush the file to the disk, because copies need not survive a power failure.
            let written = create_private(&path).and_then(|mut file| file.write_all(bytes));
            written.map_err(|source| failed(&path, source))?;
        }
        Ok(self)
    }

    /// Moves the file of another copy to the name of this copy. The file must be unchanged since its attributes were stored.
    pub(crate) fn take(&mut self, mut other: Self) -> io::Result<()> {
        other.ensure_unchanged()?;
        let file = other.held.take().and_then(|held| held.file);
        // The old name no longer exists, so dropping `other` removes no file.
        fs::rename(&other.path, &self.path)?;
        self.hold(file.ok_or_else(|| io::Error::other("the copy was mapped before"))?)
    }

    /// Stores the complete file with its current attributes.
    pub(crate) fn hold(&mut self, file: File) -> io::Result<()> {
        let stamp = Stamp::of(&file.metadata()?);
        self.held = Some(Held { file: Some(file), stamp });
        Ok(())
    }

    /// Prepares the file for mapping: checks that the inspected file is unchanged, and writes the patches.
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
        self.hold(for_mapping(file, &self.path)?)
    }

    /// Checks that the file is unchanged since its attributes were stored, and that its name still refers to it.
    pub(crate) fn ensure_unchanged(&self) -> io::Result<()> {
        let Some(held) = &self.held else { return Ok(()) };
        let is_same = |found: &fs::Metadata| Stamp::of(found) == held.stamp;
        let named = fs::symlink_metadata(&self.path)?;
        match held.file.as_ref().map(File::metadata).transpose()?.as_ref().is_none_or(is_same) && is_same(&named) {
            true => Ok(()),
            false => Err(io::Error::other("it was changed or replaced after it was checked")),
        }
    }

    /// Checks that no private copy has the name of a library that this copy needs. With `$ORIGIN` in a search path, the loader would map
    /// that private copy as a dependency before its patches are written. The unmapping of that private copy would not detect this use.
    pub(crate) fn ensure_needs_no_copy(&self) -> Result<(), String> {
        let there = self.needed.iter().find(|name| fs::symlink_metadata(self.path.with_file_name(name)).is_ok());
        there.map_or(Ok(()), |name| {
            Err(format!(
                "it needs {name}, which is the name of a private copy of another module; let its manifest name that module"
            ))
        })
    }

    pub(crate) fn close(&mut self) {
        self.held.iter_mut().for_each(|held| held.file = None);
    }

    /// Releases the file for reuse. The image of the file must be unmapped, and no other mapping of the file may remain in this process.
    pub(crate) fn recycle(mut self) {
        if let (Some(held), Some(spares)) = (self.held.take(), &self.spares) {
            match spares.put(self.path.clone(), held.stamp.id) {
                None => self.spares = None,
                // `put` returned either this file or an older file, which is then removed on drop.
                Some(path) => self.path = path,
            }
        }
    }

    /// Returns the path of the symbol file. Returns `None` if the copy has no symbol file.
    pub fn symbols(&self) -> Option<&Path> {
        self.symbols.as_deref()
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        let file = self.spares.is_some().then_some(&self.path);
        for path in file.into_iter().chain(&self.symbols) {
            match fs::remove_file(path) {
                Ok(()) => {}
                // The directory may have been removed together with the file.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // Windows deletes no mapped file. A later process removes the directory.
                Err(_) if cfg!(windows) && imp::KEEPS_IMAGES.is_some() => {}
                Err(error) => log!(WARN, path = %path.display(), %error, "a staged copy stays behind"),
            }
        }
    }
}

/// Returns the file name for a label. Replaces special characters, because the loader expands `$` in names and treats `/` as a separator.
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

    // Windows cannot remove a folder that contains an open file.
    #[cfg(unix)]
    #[test]
    fn written_files_have_unique_names_and_outlast_the_directory() {
        use crate::plain_file;

        let dir = super::StageDir::new().expect("a directory");
        let write = |content: &[u8]| dir.write("watched", content).expect("there is room");
        let (one, other) = (write(b"one"), write(b"other"));
        assert_ne!(one.path(), other.path());
        std::fs::remove_dir_all(dir.path()).expect("it is writable");
        let again = write(b"again");
        let path = again.path().to_owned();
        assert_eq!(plain_file::read(&path, 9).expect("it is there"), b"again");
        drop(again);
        assert!(!path.exists());
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
