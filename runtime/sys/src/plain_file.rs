//! Opens files for reading without ever blocking, and replaces files atomically. Rejects pipes and devices, and files above a stated size.
//!
//! Product code reads files only through this module. The test `floors` checks this rule.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::stamp::FileId;

/// Default size limit of libraries in bytes, ten times the size of a debug build of a large plugin.
pub const LARGEST_LIBRARY: u64 = 1 << 30;

/// Error of [`open`], [`read`] and [`read_text`], stored inside of the returned `io::Error`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlainFileError {
    /// The path refers to a folder, pipe, socket or device.
    #[error("it is {found}, not a plain file: put a plain file in its place")]
    NotPlain {
        /// The kind of the entry, such as "a named pipe".
        found: &'static str,
    },
    /// The file is larger than the caller accepts.
    #[error("it has {length} bytes, more than the maximum of {largest}: shorten it")]
    TooLarge {
        /// Number of bytes found so far.
        length: u64,
        /// The limit in bytes.
        largest: u64,
    },
}

impl From<PlainFileError> for io::Error {
    fn from(error: PlainFileError) -> Self {
        let kind = match error {
            PlainFileError::NotPlain { .. } => io::ErrorKind::InvalidInput,
            PlainFileError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
        };
        Self::new(kind, error)
    }
}

/// Opens a plain file. Links are followed. This function may be called on any thread.
///
/// # Errors
/// Returns the system error, or a [`PlainFileError::NotPlain`].
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    ensure_plain(&fs::metadata(path)?)?;
    let file = without_waiting().open(path)?;
    // Checks the opened file too, because the entry at the path may have been replaced after the first check.
    let found = file.metadata()?;
    ensure_plain(&found)?;
    Ok((file, found))
}

/// Reads a plain file of at most `largest` bytes. This function may be called on any thread.
///
/// # Errors
/// Returns the system error, or a [`PlainFileError`].
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let (file, found) = open(path)?;
    let too_large = |length| PlainFileError::TooLarge { length, largest };
    if found.len() > largest {
        return Err(too_large(found.len()).into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    // Reads one byte more than the limit, to detect that the file has grown.
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        length if length > largest => Err(too_large(length).into()),
        _ => Ok(bytes),
    }
}

/// Reads a plain file of UTF-8. This function may be called on any thread.
///
/// # Errors
/// Returns the errors of [`read`], or `InvalidData` if the file is not UTF-8.
pub fn read_text(path: &Path, largest: u64) -> io::Result<String> {
    String::from_utf8(read(path, largest)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Replaces a file atomically: a reader finds either the complete old content or the complete new content, also after a power failure. The
/// new content is first written to a file with the suffix `.part`. The new file has the owner and the permissions of the old
/// file, if this process may set the owner. An existing file or link with the name of the `.part` file is removed. In a shared folder,
/// another user may have created such a link. This function may be called on any thread. Each file must have only one writer at a time.
///
/// # Errors
/// Returns the system error, or an error if another program creates the `.part` file at the same time. This call then changes no file.
///
/// # Examples
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("status.json");
/// for content in ["{}", "[1, 2]"] {
///     alcedo_sys::plain_file::replace(&path, content.as_bytes())?;
///     assert_eq!(std::fs::read_to_string(&path)?, content);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    Replacement::new(path, content)?.commit()
}

/// Complete new content of a file. A caller that replaces several files together first creates all values and then commits them, so that
/// all slow steps are over before the first file changes. Dropping the value removes the new content.
#[derive(Debug)]
#[must_use = "the file is replaced by `commit`"]
pub struct Replacement {
    path: PathBuf,
    part: PathBuf,
    /// The `.part` file. Stays open, because the system may assign the id of a closed and removed file to a new file.
    file: File,
}

impl Replacement {
    /// Writes the new content next to the file.
    ///
    /// # Errors
    /// Returns the errors of [`replace`].
    pub fn new(path: &Path, content: &[u8]) -> io::Result<Self> {
        let part = path.with_added_extension("part");
        // Ignores errors, because the creation below fails if the entry still exists.
        let _ = fs::remove_file(&part);
        let new = Self { path: path.to_owned(), file: File::create_new(&part)?, part };
        #[cfg(unix)]
        keep_access(&new.file, path)?;
        (&new.file).write_all(content)?;
        new.file.sync_all()?;
        Ok(new)
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// Returns the system error, or an error if another program has replaced the `.part` file. This call then changes no file.
    pub fn commit(self) -> io::Result<()> {
        if !self.is_own() {
            return Err(io::Error::other(
                "another program writes this file at the same time: let only one program write it",
            ));
        }
        fs::rename(&self.part, &self.path)
    }

    /// Checks if the `.part` file is still the file of this value. After the commit, returns `false`.
    fn is_own(&self) -> bool {
        let found = (fs::symlink_metadata(&self.part), self.file.metadata());
        matches!(found, (Ok(found), Ok(own)) if FileId::of(&found) == FileId::of(&own))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.is_own() {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Copies the owner and the permissions of the file at `path` to a new file. A host may run as a different user than the writer of its
/// libraries. Without the right to set the owner, keeps the default permissions, because strict permissions could exclude the old owner.
///
/// # Errors
/// Returns the error of the system if the attributes of the new file cannot be read or its permissions cannot be set.
#[cfg(unix)]
pub fn keep_access(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let Ok(old) = fs::metadata(path) else { return Ok(()) };
    let new = file.metadata()?;
    let is_same = (old.uid(), old.gid()) == (new.uid(), new.gid());
    if !old.is_file() || !is_same && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        return Ok(());
    }
    let mode = old.mode() & 0o777;
    if mode == new.mode() & 0o777 { Ok(()) } else { file.set_permissions(fs::Permissions::from_mode(mode)) }
}

/// Returns the SHA-256 digest of bytes in the format of registries: `sha256:` and 64 hex digits.
///
/// # Examples
/// ```
/// let digest = alcedo_sys::plain_file::sha256(b"{}");
/// assert_eq!(digest, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
/// ```
pub fn sha256(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("sha256:{digits}")
}

fn ensure_plain(found: &Metadata) -> Result<(), PlainFileError> {
    match found.is_file() {
        true => Ok(()),
        false => Err(PlainFileError::NotPlain { found: kind(found.file_type()) }),
    }
}

#[cfg(unix)]
fn kind(found: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match found {
        found if found.is_dir() => "a folder",
        found if found.is_fifo() => "a named pipe",
        found if found.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind(found: fs::FileType) -> &'static str {
    if found.is_dir() { "a folder" } else { "no regular file" }
}

/// Returns options that do not block on a pipe, which may have replaced the file after the check of its kind.
fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::{Replacement, read, read_text, replace};

    #[test]
    fn a_failed_replacement_keeps_the_old_file_and_leaves_no_part() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::create_dir(&path).expect("a folder in its place");
        replace(&path, b"new").expect_err("a folder is not replaced by a file");
        assert!(path.is_dir());
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1, "no part is left");
    }

    #[test]
    fn several_files_are_replaced_after_all_contents_are_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|name| dir.path().join(name));
        std::fs::write(&one, "old").expect("written");
        let prepared = [&one, &other].map(|path| Replacement::new(path, b"new").expect("the folder is writable"));
        assert!(read_text(&one, 9).expect("it stays") == "old" && !other.exists());
        prepared.into_iter().for_each(|new| new.commit().expect("the folder is writable"));
        assert!([&one, &other].iter().all(|path| read_text(path, 9).is_ok_and(|text| text == "new")));
        drop(Replacement::new(&one, b"unused").expect("the folder is writable"));
        assert_eq!(read_text(&one, 9).expect("it stays"), "new");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 2, "no part is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_writer_never_commits_or_removes_the_content_of_another_writer() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        let [one, other] =
            [b"one".as_slice(), b"other"].map(|content| Replacement::new(&path, content).expect("written"));
        one.commit().expect_err("its content was removed");
        assert!(!path.exists());
        other.commit().expect("its content is complete");
        assert_eq!(read_text(&path, 9).expect("the new file"), "other");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1, "no part is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, "old").expect("written");
        for mode in [0o600, 0o755, 0o444] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("the file has this owner");
            replace(&path, b"new").expect("the folder is writable");
            let found = std::fs::metadata(&path).expect("the new file").permissions().mode() & 0o777;
            assert_eq!(found, mode, "{found:o} instead of {mode:o}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_part_is_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let [path, part, other] = ["file", "file.part", "other"].map(|name| dir.path().join(name));
        std::fs::write(&other, "other").expect("written");
        for is_hard in [false, true] {
            match is_hard {
                true => std::fs::hard_link(&other, &part).expect("made"),
                false => std::os::unix::fs::symlink(&other, &part).expect("made"),
            }
            replace(&path, b"new").expect("the link is removed");
            assert_eq!(read_text(&other, 9).expect("it stays"), "other", "{is_hard}");
            let found = std::fs::symlink_metadata(&path).expect("the new file");
            assert!(found.is_file() && read_text(&path, 9).expect("the new file") == "new", "{is_hard}");
        }
    }

    #[test]
    fn only_plain_files_within_the_limit_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, "four").expect("written");
        assert_eq!(read_text(&path, 4).expect("a plain file"), "four");
        let refused = |path: &std::path::Path, largest| read(path, largest).expect_err("refused").to_string();
        assert_eq!(refused(&path, 3), "it has 4 bytes, more than the maximum of 3: shorten it");
        assert!(refused(dir.path(), 4).starts_with("it is a folder"));
        #[cfg(unix)]
        {
            let pipe = dir.path().join("pipe");
            rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
                .expect("made");
            assert!(refused(&pipe, 4).starts_with("it is a named pipe"));
            assert!(refused("/dev/zero".as_ref(), 4).starts_with("it is a device"));
            // The kernel reports the length of its own files as 0.
            assert!(refused("/proc/self/maps".as_ref(), 4).starts_with("it has 5 bytes"));
        }
    }
}
