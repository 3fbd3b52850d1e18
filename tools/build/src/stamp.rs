//! Determines versions of files from the metadata of the file system, without reading contents. A version changes if a file is written,
//! replaced, or restored.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use xxhash_rust::xxh3::Xxh3;

/// Version of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stamp {
    Missing,
    File(Version),
    /// Digest of the versions of all files below a folder.
    Folder(u128),
    /// Differs from every stamp, also from itself.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    modified: Option<SystemTime>,
    /// Change time and number of the file's inode, which programs cannot set. Zero on systems other than Unix.
    changed: (i64, i64, u64),
    length: u64,
}

/// Files and their versions.
pub(crate) type Stamps = BTreeMap<PathBuf, Stamp>;

/// Limit of files below a folder. A folder with more files has an unknown stamp.
const MOST_FILES: usize = 10_000;

impl Stamp {
    pub(crate) fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => folder(path).map_or(Self::Unknown, Self::Folder),
            Ok(metadata) => Self::File(Version::of(&metadata)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Unknown,
        }
    }

    /// Returns the stamp of a file that builds do not write. Returns `Unknown` if the file was written after `start`, when the build may
    /// have read either version.
    pub(crate) fn before(path: &Path, start: SystemTime) -> Self {
        match Self::of(path) {
            Self::File(version) if version.modified.is_none_or(|modified| modified >= start) => Self::Unknown,
            stamp => stamp,
        }
    }

    /// Returns `true` if the file has not been written between both stamps.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self == other && *self != Self::Unknown
    }
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
        };
        #[cfg(not(unix))]
        let changed = (0, 0, 0);
        Self { modified: metadata.modified().ok(), changed, length: metadata.len() }
    }
}

/// Returns the digest of all files below a folder; `None` if they cannot be listed, or are too many.
fn folder(root: &Path) -> Option<u128> {
    let (mut waiting, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(dir).ok()? {
            let path = entry.ok()?.path();
            // A symbolic link may point to a parent folder, so it counts as a file.
            let metadata = fs::symlink_metadata(&path).ok()?;
            if metadata.is_dir() {
                waiting.push(path);
            } else {
                files.push(format!("{} {:?}", path.display(), Version::of(&metadata)));
            }
        }
        if files.len() > MOST_FILES {
            return None;
        }
    }
    files.sort();
    let mut digest = Xxh3::new();
    files.iter().for_each(|file| digest.update(file.as_bytes()));
    Some(digest.digest128())
}

#[cfg(test)]
mod tests {
    use super::Stamp;
    use std::fs;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_stamp_differs_after_each_kind_of_change() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join("a"), dir.path().join("b"));
        let stamps = || (Stamp::of(&file), Stamp::of(dir.path()));
        let mut last = stamps();
        let mut check = |what: &str| {
            let now = stamps();
            assert!(!now.0.is_same(&last.0) && !now.1.is_same(&last.1), "{what}");
            last = now;
        };
        fs::write(&file, "one").unwrap();
        check("created");
        fs::write(&file, "three").unwrap();
        check("written");
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&other, "seven").unwrap();
        fs::File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
        fs::rename(&other, &file).unwrap();
        check("replaced by a file of equal time and length");
        fs::remove_file(&file).unwrap();
        check("deleted");
        assert!(Stamp::of(&file).is_same(&Stamp::Missing));
        assert!(Stamp::of(dir.path()).is_same(&Stamp::of(dir.path())));
    }

    #[test]
    fn a_file_written_during_a_build_has_no_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "").unwrap();
        let now = SystemTime::now();
        assert!(Stamp::before(&file, now + Duration::from_secs(1)).is_same(&Stamp::of(&file)));
        let unknown = Stamp::before(&file, now - Duration::from_secs(1));
        assert!(unknown == Stamp::Unknown && !unknown.is_same(&unknown));
    }
}
