//! Determines versions of files from the metadata of the file system, without reading contents. A version changes if a file is written,
//! replaced, or restored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::Xxh3;

/// Version of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stamp {
    Missing,
    File(Version),
    /// Digest of the versions of all files below a folder.
    Folder(u128),
    /// An unknown version. For [`Stamp::is_same`], this version differs from every stamp, including itself.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    modified: Option<SystemTime>,
    /// Change time and number of the file's inode. Programs cannot set these values. Zero on systems other than Unix.
    changed: (i64, i64, u64),
    length: u64,
}

/// Files and their versions.
pub(crate) type Stamps = BTreeMap<PathBuf, Stamp>;

/// Adds the stamp of each path.
pub(crate) fn stamped(
    paths: impl IntoIterator<Item = PathBuf>,
    stamp: impl Fn(&Path) -> Stamp,
) -> impl Iterator<Item = (PathBuf, Stamp)> {
    paths.into_iter().map(move |path| (path.clone(), stamp(&path)))
}

/// Longest time between two ticks of the kernel's clock.
pub(crate) const CLOCK_TICK: Duration = Duration::from_millis(10);

/// Limit of files below a folder. A folder with more files has an unknown stamp.
const MOST_FILES: usize = 10_000;

impl Stamp {
    pub(crate) fn of(path: &Path) -> Self {
        Self::until(path, None)
    }

    /// Returns the stamp of a file or folder that builds do not write. Returns `Unknown` if a file was written or replaced after `start`,
    /// or if a file in the folder was deleted, because the build may have read either version.
    pub(crate) fn before(path: &Path, start: SystemTime) -> Self {
        Self::until(path, Some(start))
    }

    fn until(path: &Path, start: Option<SystemTime>) -> Self {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => folder(path, start).map_or(Self::Unknown, Self::Folder),
            Ok(metadata) => Version::of(&metadata, start).map_or(Self::Unknown, Self::File),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Unknown,
        }
    }

    /// Returns the stamp of a file that must exist: a missing file has an unknown stamp.
    pub(crate) fn required(self) -> Self {
        if self == Self::Missing { Self::Unknown } else { self }
    }

    /// Returns `true` if both stamps are known and equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self == other && *self != Self::Unknown
    }
}

impl Version {
    /// Returns the version of a file or folder. Returns `None` if the file has changed since `start`.
    fn of(metadata: &Metadata, start: Option<SystemTime>) -> Option<Self> {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
        };
        #[cfg(not(unix))]
        let changed = (0, 0, 0);
        let version = Self { modified: metadata.modified().ok(), changed, length: metadata.len() };
        start.is_none_or(|start| version.is_before(start)).then_some(version)
    }

    /// Returns `true` if the file is unchanged since `start`. A replacement by an older file counts as a change.
    fn is_before(&self, start: SystemTime) -> bool {
        // Subtracts a tick, because file times are read from a clock that advances with the ticks of the kernel.
        let limit = start.checked_sub(CLOCK_TICK).unwrap_or(start);
        let (seconds, nanos, _) = self.changed;
        let since_epoch = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
        let changed = since_epoch.map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos));
        [self.modified, changed].iter().all(|time| time.is_some_and(|time| time < limit))
    }
}

/// Returns the digest of the contents of files. Returns `None` if a file cannot be read, or if its stamp has changed.
pub(crate) fn contents(stamps: &Stamps) -> Option<u128> {
    let mut digest = Xxh3::new();
    for (path, stamp) in stamps {
        let bytes = fs::read(path).ok()?;
        if !Stamp::of(path).is_same(stamp) {
            return None;
        }
        digest.update(path.as_os_str().as_encoded_bytes());
        digest.update(&(bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
    Some(digest.digest128())
}

/// Returns a digest of the versions of all files below a folder. Follows symbolic links, as cargo does. Returns `None` if a folder cannot
/// be listed, if the folder contains too many files, or if a file or folder has changed since `start`.
fn folder(root: &Path, start: Option<SystemTime>) -> Option<u128> {
    let (mut waiting, mut listed, mut files) = (vec![root.to_owned()], BTreeSet::new(), Vec::new());
    while let Some(dir) = waiting.pop() {
        // Lists each folder once, because a symbolic link may point to a parent folder.
        if !listed.insert(dir.canonicalize().ok()?) {
            continue;
        }
        // Checks the time of the folder itself, because this time changes if a file is deleted.
        Version::of(&fs::metadata(&dir).ok()?, start)?;
        // Adds the name of the folder, because a build script may read the names of folders.
        files.push(dir.display().to_string());
        for entry in fs::read_dir(&dir).ok()? {
            let path = entry.ok()?.path();
            let link = fs::symlink_metadata(&path).ok()?;
            let target = if link.is_symlink() { fs::metadata(&path).ok() } else { Some(link.clone()) };
            match target {
                Some(target) if target.is_dir() => waiting.push(path),
                // Uses only the version of the link itself if the link has no target.
                target => {
                    let versions = target.iter().chain([&link]).map(|file| Version::of(file, start));
                    files.push(format!("{} {:?}", path.display(), versions.collect::<Option<Vec<_>>>()?));
                }
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
    use super::{Stamp, Stamps, contents};
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
        let empty = Stamp::of(dir.path());
        assert!(empty.is_same(&Stamp::of(dir.path())));
        fs::create_dir(&other).unwrap();
        assert!(!empty.is_same(&Stamp::of(dir.path())), "an empty folder");
    }

    #[test]
    fn contents_are_those_of_the_stamps() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "one").unwrap();
        let stamps = || Stamps::from([(file.clone(), Stamp::of(&file))]);
        let (old, digest) = (stamps(), contents(&stamps()));
        assert!(digest.is_some());
        fs::write(&file, "six").unwrap();
        assert_ne!(contents(&stamps()), digest);
        fs::write(&file, "one").unwrap();
        assert_eq!(contents(&stamps()), digest, "the content is back");
        assert_eq!(contents(&old), None, "but the file was written in between");
        fs::remove_file(&file).unwrap();
        assert_eq!(contents(&stamps()), None);
    }

    #[test]
    fn a_file_replaced_by_an_older_one_during_a_build_has_no_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let (file, older) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&older, "").unwrap();
        let start = SystemTime::now();
        let old = start - Duration::from_secs(9);
        fs::File::options().write(true).open(&older).unwrap().set_modified(old).unwrap();
        fs::rename(&older, &file).unwrap();
        assert_eq!(Stamp::before(&file, start), Stamp::Unknown);
        assert_eq!(Stamp::before(dir.path(), start), Stamp::Unknown);
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
        assert!(Stamp::before(dir.path(), now + Duration::from_secs(1)).is_same(&Stamp::of(dir.path())));
        fs::remove_file(&file).unwrap();
        assert_eq!(Stamp::before(dir.path(), now - Duration::from_secs(1)), Stamp::Unknown, "a file was deleted");
    }
}
