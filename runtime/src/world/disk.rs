//! The file itself. A world is written beside the place it goes to and put there when it is whole, so that a crash leaves
//! the old one or the new one.

use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::world::error::WorldError;

/// Writes a whole file in place of what was there.
///
/// # Errors
/// When the system refuses a step; what was there is still there.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), WorldError> {
    let failed = |doing| move |source| WorldError::Disk { doing, path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder).map_err(failed("making a file beside"))?;
    file.write_all(bytes).map_err(failed("writing what is to be"))?;
    file.as_file().sync_all().map_err(failed("writing what is to be"))?;
    file.persist(path).map_err(|error| failed("putting a whole file in place of")(error.error))?;
    // The new name is in the folder, which is to be on the disk as well.
    let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(failed("making sure of the folder of"))
}

/// All of a file.
///
/// # Errors
/// When the system does not give it.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, WorldError> {
    std::fs::read(path).map_err(|source| WorldError::Disk { doing: "reading", path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world");
        for bytes in [&b"one"[..], b"", b"another one"] {
            write(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap(), bytes);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_cannot_be_written_says_which_file_and_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/world");
        let error = write(&path, b"one").unwrap_err().to_string();
        assert!(error.starts_with("making a file beside") && error.contains("none/world"), "{error}");
        // A folder cannot be replaced by a file.
        let path = folder.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        assert!(write(&path, b"one").is_err() && path.is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().starts_with("reading "));
    }
}
