//! Identity and modification state of a file: its id, size, modification time, and on Unix its change time. Programs can set the
//! modification time of a file, but not the change time.

use std::fs::Metadata;

/// Stamp of a file. Two stamps of a file are equal if the content, the name and the mode of the file are unchanged between the stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub(crate) id: FileId,
    len: u64,
    #[cfg(unix)]
    written: (i64, i64),
    #[cfg(unix)]
    changed: (i64, i64),
    #[cfg(not(unix))]
    written: Option<std::time::SystemTime>,
}

/// Identity of a file, which is independent of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    /// Time of creation, used as the identity because this platform provides no other.
    #[cfg(not(unix))]
    created: Option<std::time::SystemTime>,
}

impl FileId {
    #[cfg(unix)]
    pub(crate) fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { device_and_inode: (file.dev(), file.ino()) }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(file: &Metadata) -> Self {
        Self { created: file.created().ok() }
    }
}

impl Stamp {
    /// Returns the stamp of a file with these attributes.
    #[must_use]
    #[cfg(unix)]
    pub fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            id: FileId::of(file),
            len: file.len(),
            written: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    /// Returns the stamp of a file with these attributes.
    #[must_use]
    #[cfg(not(unix))]
    pub fn of(file: &Metadata) -> Self {
        Self { id: FileId::of(file), len: file.len(), written: file.modified().ok() }
    }
}
