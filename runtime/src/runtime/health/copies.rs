//! Keeps private copies of libraries for a health watch, so that it can load a library that was replaced on disk.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use alcedo_sys::{Digest, ImageFile, plain_file};

/// Private copy of a library. Programs that clean the temporary folder may remove the file, so the copy also stays open.
pub(super) struct KeptCopy {
    pub(super) digest: String,
    /// Digest of the image, without its seal.
    pub(super) image: Option<Digest>,
    pub(super) path: PathBuf,
    file: File,
}

impl KeptCopy {
    pub(super) fn new(folder: &Path, file: &Path, digest: &str, bytes: &[u8]) -> io::Result<Self> {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let short = digest.split_once(':').map_or(digest, |(_, digits)| digits).get(..16).unwrap_or(digest);
        let path = folder.join(format!("watched-{short}-{name}"));
        fs::write(&path, bytes)?;
        let (file, _) = plain_file::open(&path)?;
        let image = ImageFile::from_bytes(&path, bytes.to_vec()).ok().map(|image| image.digest());
        Ok(Self { digest: digest.to_owned(), image, path, file })
    }

    /// Returns the path of the copy, after writing the file again if it was removed.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        if !self.path.is_file() {
            let (mut file, mut bytes) = (&self.file, Vec::new());
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut bytes)?;
            fs::write(&self.path, bytes)?;
        }
        Ok(self.path.clone())
    }
}

impl Drop for KeptCopy {
    fn drop(&mut self) {
        // The file may have been removed.
        let _ = fs::remove_file(&self.path);
    }
}
