//! Keeps private copies of libraries for a health watch. The watch can then load a library that was replaced on disk.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use alcedo_sys::{Digest, ImageError, ImageFile, StageDir, StagedFile, plain_file};

/// Private copy of a library. Also holds the file open, so that the content stays readable if a program removes the file from the temporary
/// folder.
pub(super) struct KeptCopy {
    pub(super) digest: String,
    /// Digest of the image, without its seal.
    pub(super) image: Option<Digest>,
    staged: StagedFile,
    file: File,
}

impl KeptCopy {
    pub(super) fn new(dir: &StageDir, file: &Path, digest: &str, bytes: &[u8]) -> io::Result<Self> {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (staged, file) = write(dir, &format!("watched-{name}"), bytes)?;
        let image = ImageFile::from_bytes(staged.path(), bytes.to_vec()).ok().map(|image| image.digest());
        Ok(Self { digest: digest.to_owned(), image, staged, file })
    }

    /// Returns the path of the copy. If the file was removed, first writes the copy again.
    pub(super) fn path(&mut self, dir: &StageDir) -> io::Result<PathBuf> {
        if !self.staged.path().is_file() {
            let mut bytes = Vec::new();
            self.file.seek(SeekFrom::Start(0))?;
            self.file.read_to_end(&mut bytes)?;
            (self.staged, self.file) = write(dir, "watched-again", &bytes)?;
        }
        Ok(self.staged.path().to_owned())
    }
}

/// Writes a copy, and opens the copy only for reading, because the check for writers rejects a file that is open for writing.
fn write(dir: &StageDir, label: &str, bytes: &[u8]) -> io::Result<(StagedFile, File)> {
    let staged = dir.write(label, bytes)?;
    let (file, _) = plain_file::open(staged.path())?;
    Ok((staged, file))
}

/// Checks if `content` is one complete build. A read during a write returns a mix of two builds. A check of the copy could not detect
/// such a mix, because no program writes the copy.
pub(super) fn is_complete(file: &Path, content: &[u8], largest: u64) -> bool {
    // The second read is later than the check for writers. If both reads return equal contents, the first read was complete.
    !matches!(ImageFile::read(file), Err(ImageError::StillWritten { .. }))
        && plain_file::read(file, largest).is_ok_and(|found| found == content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use alcedo_sys::{StageDir, plain_file};

    use super::{KeptCopy, is_complete};

    #[test]
    fn copies_of_one_library_have_their_own_files() {
        let dir = StageDir::new().expect("a folder");
        let copy = || KeptCopy::new(&dir, "/srv/libweather.so".as_ref(), "sha256:00", b"code").expect("there is room");
        let (mut one, mut other) = (copy(), copy());
        let [path, kept] = [&mut one, &mut other].map(|copy| copy.path(&dir).expect("it is there"));
        drop(one);
        assert!(!path.exists() && kept.exists(), "a copy removes only its own file");
    }

    #[test]
    fn a_removed_copy_is_written_again_in_a_new_folder() {
        let dir = StageDir::new().expect("a folder");
        let mut copy = KeptCopy::new(&dir, "libweather.so".as_ref(), "sha256:00", b"code").expect("there is room");
        fs::remove_dir_all(dir.path()).expect("it is writable");
        for _ in 0..2 {
            let path = copy.path(&dir).expect("the folder is created again");
            assert_eq!(plain_file::read(&path, 9).expect("it is there"), b"code");
        }
    }

    #[test]
    fn a_read_during_a_write_is_not_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("libweather.so");
        fs::write(&file, "new").expect("written");
        let check = |content: &[u8], largest| is_complete(&file, content, largest);
        assert!(check(b"new", 3) && !check(b"neo", 3) && !check(b"new", 2));
        fs::remove_file(&file).expect("it exists");
        assert!(!check(b"new", 3), "it is being replaced");
    }
}
