//! Creates temporary folders, for private copies of libraries and for sessions of tools. Only the current user can access a folder,
//! regardless of the umask. A lock that ends with the process marks the folder as in use. When a process creates a folder, it first removes
//! unlocked folders of the same kind, which killed processes left.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;

use tempfile::TempDir;

use crate::notes;

pub(crate) use imp::{create_private, for_mapping, open_private};

/// Name prefix of the folders for copies of libraries.
pub(crate) const COPIES: &str = "alcedo-stage-";

/// Name of the file that the process of a folder keeps locked. A folder without this file is still being created.
const LOCK: &str = "lock";

const UNLOCKED: &str = "lock.new";

/// Prefix of the line in the lock file that contains the folder of the host's supervisor.
const SUPERVISOR: &str = "supervisor ";

/// Maximum number of folders that one sweep removes. The next sweep continues with the remaining folders.
const MOST_FOLDERS: usize = 64;

/// Folder of this process, removed on drop with its content.
#[derive(Debug)]
pub struct PrivateFolder {
    dir: TempDir,
    /// Lock of the folder, dropped after the folder is removed. `None` if files cannot be locked. A sweep never removes a folder without a
    /// lock file.
    lock: Mutex<Option<fs::File>>,
}

impl PrivateFolder {
    /// Creates a folder below the system's temporary directory, with a name that begins with `prefix`. First removes the folders with this
    /// prefix that killed processes of this user left, up to a limit.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or another user could replace it.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let temporary = std::env::temp_dir();
        let unusable = |error: io::Error| {
            let message = format!("{}: {error}; point TMPDIR to an existing folder", temporary.display());
            io::Error::new(error.kind(), message)
        };
        let base = fs::canonicalize(&temporary).map_err(unusable)?;
        imp::check_ancestors(&base)?;
        imp::sweep(&base, prefix);
        let dir = imp::create(&base, prefix)?;
        let lock = locked(dir.path()).inspect_err(|error| log_unlocked(dir.path(), error)).ok();
        Ok(Self { dir, lock: Mutex::new(lock) })
    }

    /// Creates the folder again, as [`PrivateFolder::new`] does, if it was removed. This function may be called on any thread.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or another user has replaced it.
    pub(crate) fn renew(&self) -> io::Result<()> {
        let mut held = crate::lock(&self.lock);
        if !imp::renew(self.path())? {
            return Ok(());
        }
        let lock = locked(self.path());
        let error = lock.as_ref().err().map(ToString::to_string);
        *held = lock.ok();
        // Logs outside of the lock, because a log subscriber may load libraries.
        drop(held);
        log!(WARN, path = %self.path().display(), "a private folder was removed, and is created again");
        if let Some(error) = error {
            log_unlocked(self.path(), &error);
        }
        Ok(())
    }

    /// Returns the path of the folder without symbolic links. The loader must receive such paths, because the system reports mapped files
    /// by their real paths.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

#[cfg(not(unix))]
impl Drop for PrivateFolder {
    fn drop(&mut self) {
        drop(crate::lock(&self.lock).take());
        if !imp::remove(self.path()) {
            self.dir.disable_cleanup(true);
        }
    }
}

fn log_unlocked(path: &Path, error: &dyn fmt::Display) {
    log!(DEBUG, path = %path.display(), %error, "a private folder stays behind if this process is killed");
}

/// Locks a new folder. The lock file is first locked and then receives its final name. Therefore no process can lock the folder of a host
/// that has just started.
fn locked(folder: &Path) -> io::Result<fs::File> {
    let path = folder.join(UNLOCKED);
    let mut file = create_private(&path)?;
    file.try_lock().inspect_err(|_| drop(fs::remove_file(&path)))?;
    if let Some(supervisor) = notes::reported_into() {
        file.write_all(SUPERVISOR.as_bytes())?;
        file.write_all(supervisor.as_os_str().as_encoded_bytes())?;
    }
    fs::rename(&path, folder.join(LOCK))?;
    Ok(file)
}

/// Checks by the folder name if a file is a host's private copy of an image.
pub(crate) fn is_copy(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name.as_encoded_bytes().starts_with(COPIES.as_bytes()))
}

#[cfg(unix)]
mod imp {
    use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
    use std::io::{self, Read as _};
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
    use rustix::io::Errno;
    use rustix::process::geteuid;
    use tempfile::TempDir;

    use super::{LOCK, MOST_FOLDERS, SUPERVISOR};

    /// Maximum number of directory entries that one sweep examines.
    const MOST_NAMES: usize = 20_000;

    /// User id that the system reports for files whose owner does not exist in this user namespace. In a container, system folders usually
    /// have this owner.
    const UNMAPPED: u32 = 65_534;

    const FOLDER: u32 = 0o700;

    const PRIVATE: u32 = 0o600;

    /// Flags to open an entry without waiting. A link is not followed.
    const NO_LINKS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

    /// Checks that only this user and the administrator can replace a folder below `base`. Members of a folder's group are trusted,
    /// because many systems assign each user a private group.
    pub(super) fn check_ancestors(base: &Path) -> io::Result<()> {
        let own = geteuid().as_raw();
        for dir in base.ancestors() {
            let found = fs::metadata(dir)?;
            let is_sticky = found.mode() & 0o1000 != 0;
            let reason = match found.uid() {
                uid if ![0, own, UNMAPPED].contains(&uid) => {
                    format!("belongs to user {uid}, and this process to user {own}")
                }
                _ if found.mode() & 0o002 != 0 && !is_sticky => {
                    format!("may be written by everybody and is not sticky (mode {:04o})", found.mode() & 0o7777)
                }
                _ => continue,
            };
            let effect = "so others could replace what is mapped from there: point TMPDIR to a folder of your own";
            return Err(denied(dir, &format!("{reason}, {effect}")));
        }
        Ok(())
    }

    pub(super) fn create(base: &Path, prefix: &str) -> io::Result<TempDir> {
        let private = Permissions::from_mode(FOLDER);
        let dir = tempfile::Builder::new().prefix(prefix).permissions(private.clone()).tempdir_in(base)?;
        // The umask may have removed permissions of the owner, so the mode is set again.
        fs::set_permissions(dir.path(), private)?;
        check(dir.path())?;
        Ok(dir)
    }

    /// Creates the folder at this path, with mode 0700, unless it exists. Returns `true` if it was created.
    pub(super) fn renew(path: &Path) -> io::Result<bool> {
        let is_new = match DirBuilder::new().mode(FOLDER).create(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        if is_new {
            fs::set_permissions(path, Permissions::from_mode(FOLDER))?;
        }
        check(path)?;
        Ok(is_new)
    }

    fn check(path: &Path) -> io::Result<()> {
        let found = open_dir(path)?.metadata()?;
        if is_private(&found) {
            return Ok(());
        }
        let (access, help) = (access(&found), "point TMPDIR to a file system that keeps owners and modes");
        Err(denied(path, &format!("was just created and is not private to this user ({access}): {help}")))
    }

    fn is_private(found: &fs::Metadata) -> bool {
        found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0
    }

    /// Creates a file that only this user may read or write, independent of the umask.
    pub(crate) fn create_private(path: &Path) -> io::Result<File> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE).open(path)?;
        if file.metadata()?.mode() & 0o777 != PRIVATE {
            file.set_permissions(Permissions::from_mode(PRIVATE))?;
        }
        Ok(file)
    }

    /// Opens an existing file. Fails if the file is a link or if another user may write to the file.
    pub(crate) fn open_private(path: &Path, write: bool) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new().read(true).write(write).custom_flags(flags.bits().cast_signed()).open(path)?;
        let found = file.metadata()?;
        let is_ours = found.is_file() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0;
        if is_ours {
            return Ok(file);
        }
        Err(denied(path, &format!("is not a file that only this user may write ({})", access(&found))))
    }

    fn access(found: &fs::Metadata) -> String {
        format!("owner {}, mode {:04o}", found.uid(), found.mode() & 0o7777)
    }

    fn denied(path: &Path, reason: &str) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {reason}", path.display()))
    }

    fn open_dir(path: &Path) -> io::Result<File> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
    }

    /// Returns `file` itself, because the loader of this platform can map a file that is open for writing.
    pub(crate) fn for_mapping(file: File, _path: &Path) -> io::Result<File> {
        Ok(file)
    }

    /// Removes folders of this user whose processes have ended. Skips folders that cannot be examined or removed.
    pub(super) fn sweep(base: &Path, prefix: &str) {
        let (Ok(here), Ok(names)) = (open_dir(base), fs::read_dir(base)) else { return };
        let ours = names.take(MOST_NAMES).flatten().map(|entry| entry.file_name());
        let ours = ours.filter(|name| name.as_bytes().starts_with(prefix.as_bytes()));
        let swept = ours.filter(|name| sweep_one(&here, name.as_bytes()).unwrap_or(false)).take(MOST_FOLDERS).count();
        if swept > 0 {
            log!(DEBUG, swept, base = %base.display(), "removed folders that killed processes had left");
        }
    }

    /// Removes the folder if its process has ended. Opens all entries relative to already opened folders, and follows no links.
    fn sweep_one(base: &File, name: &[u8]) -> io::Result<bool> {
        let dir = File::from(openat(base, name, NO_LINKS | OFlags::DIRECTORY, Mode::empty())?);
        if !is_private(&dir.metadata()?) {
            return Ok(false);
        }
        let mut lock = File::from(openat(&dir, LOCK, NO_LINKS | OFlags::RDWR, Mode::empty())?);
        if !lock.metadata()?.is_file() || lock.try_lock().is_err() {
            return Ok(false);
        }
        let mut content = Vec::new();
        lock.read_to_end(&mut content)?;
        if content.strip_prefix(SUPERVISOR.as_bytes()).is_some_and(is_held) {
            return Ok(false);
        }
        // Removes the lock file last, so that the next sweep repeats an interrupted removal.
        clear(&dir, Some(LOCK))?;
        unlinkat(&dir, LOCK, AtFlags::empty())?;
        unlinkat(base, name, AtFlags::REMOVEDIR)?;
        Ok(true)
    }

    /// Removes all entries of a folder, except the entry `kept`. Removes inner folders with their content.
    fn clear(dir: &File, kept: Option<&str>) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if [Some("."), Some(".."), kept].iter().flatten().any(|kept| kept.as_bytes() == name.to_bytes()) {
                continue;
            }
            match unlinkat(dir, name, AtFlags::empty()) {
                Err(Errno::ISDIR | Errno::PERM) => {
                    clear(&File::from(openat(dir, name, NO_LINKS | OFlags::DIRECTORY, Mode::empty())?), None)?;
                    unlinkat(dir, name, AtFlags::REMOVEDIR)?;
                }
                removed => removed?,
            }
        }
        Ok(())
    }

    /// Checks if a supervisor still reads the files of its host. Such a supervisor has locked its folder at `path`.
    fn is_held(path: &[u8]) -> bool {
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        open_dir(&path).is_ok_and(|dir| dir.try_lock_shared().is_err())
    }
}

#[cfg(not(unix))]
mod imp {
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{LOCK, MOST_FOLDERS};
    use crate::stamp::FileId;

    /// Checks nothing, because temporary folders are private to the user on this platform.
    pub(super) fn check_ancestors(_base: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn create(base: &Path, prefix: &str) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix(prefix).tempdir_in(base)
    }

    /// Creates the folder at this path unless it exists. Returns `true` if it was created.
    pub(super) fn renew(path: &Path) -> io::Result<bool> {
        match fs::create_dir(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a file with the permissions of its folder. On this platform, only this user can access the temporary folder.
    pub(crate) fn create_private(path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(path)
    }

    /// Opens an existing file. On this platform, links and permissions are not checked.
    pub(crate) fn open_private(path: &Path, write: bool) -> io::Result<File> {
        File::options().read(true).write(write).open(path)
    }

    /// Closes a complete file, and opens the file for reading. The loader rejects a file that is open for writing.
    pub(crate) fn for_mapping(file: File, path: &Path) -> io::Result<File> {
        let id = FileId::of(&file.metadata()?);
        drop(file);
        let file = open_private(path, false)?;
        match FileId::of(&file.metadata()?) == id {
            true => Ok(file),
            false => Err(io::Error::other("another file was put in its place")),
        }
    }

    /// Removes folders of ended processes. A mapped library cannot be deleted, so each process with parked images leaves its folder.
    pub(super) fn sweep(base: &Path, prefix: &str) {
        let entries = fs::read_dir(base).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()));
        let _swept = ours.map(|entry| entry.path()).filter(|folder| sweep_one(folder)).take(MOST_FOLDERS).count();
    }

    /// Returns `true` if the folder is removed.
    fn sweep_one(folder: &Path) -> bool {
        let lock = File::options().read(true).write(true).open(folder.join(LOCK));
        lock.is_ok_and(|lock| lock.try_lock().is_ok()) && remove(folder)
    }

    /// Removes an unlocked folder. If the removal fails, for example because a library is mapped, creates an unlocked lock file, so that a
    /// later sweep removes the folder.
    pub(super) fn remove(folder: &Path) -> bool {
        let is_removed = fs::remove_dir_all(folder).is_ok();
        if !is_removed {
            let _exists = create_private(&folder.join(LOCK));
        }
        is_removed
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::{LOCK, imp, locked};

    #[test]
    fn folders_of_killed_sessions_are_deleted_and_others_stay() {
        const PREFIX: &str = "alcedo-session-";
        let base = tempfile::tempdir().expect("a folder");
        let live = imp::create(base.path(), PREFIX).expect("a folder");
        let _lock = locked(live.path()).expect("no other process locks it");
        let names = ["alcedo-session-left", "alcedo-session-new", "alcedo-other-left"];
        let [left, new, other] = names.map(|name| base.path().join(name));
        for dir in [&left, &new, &other] {
            fs::create_dir_all(dir.join("1/0")).expect("made");
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).expect("it is ours");
            fs::write(dir.join("1/0/library"), "code").expect("written");
        }
        [&left, &other].into_iter().for_each(|dir| fs::write(dir.join(LOCK), "").expect("written"));
        symlink(&other, left.join("1/link")).expect("made");
        imp::sweep(base.path(), PREFIX);
        assert_eq!([&left, &new, &other].map(|dir| dir.exists()), [false, true, true]);
        assert!(live.path().exists() && other.join("1/0/library").exists());
    }
}

#[cfg(all(test, not(unix)))]
mod tests {
    use std::fs;

    use super::{LOCK, MOST_FOLDERS, imp, locked};

    #[test]
    fn folders_that_stay_do_not_end_a_sweep() {
        let base = tempfile::tempdir().expect("a folder");
        let folder = |name: &str| {
            let path = base.path().join(name);
            fs::create_dir(&path).expect("made");
            path
        };
        (0..MOST_FOLDERS).for_each(|at| drop(folder(&format!("alcedo-{at:03}"))));
        let left = folder("alcedo-left");
        fs::write(left.join(LOCK), "").expect("written");
        imp::sweep(base.path(), "alcedo-");
        assert!(!left.exists());
    }

    #[cfg(windows)]
    #[test]
    fn a_folder_with_a_mapped_library_is_deleted_later() {
        use std::os::windows::fs::OpenOptionsExt as _;

        let create = || super::PrivateFolder::new("alcedo-kept-").expect("a folder");
        let folder = create();
        let path = folder.path().to_owned();
        // A file without sharing cannot be deleted, like a mapped library.
        let file = fs::File::options().write(true).create_new(true).share_mode(0).open(path.join("mapped"));
        drop(folder);
        assert!(path.join(LOCK).exists());
        // This sweep deletes the lock file before it fails, because entries of folders are listed in alphabetical order.
        drop(create());
        assert!(path.join(LOCK).exists());
        drop(file.expect("made"));
        drop(create());
        assert!(!path.exists());
    }

    #[test]
    fn folders_of_ended_processes_are_deleted_and_others_stay() {
        let base = tempfile::tempdir().expect("a folder");
        let live = imp::create(base.path(), "alcedo-").expect("a folder");
        let _lock = locked(live.path()).expect("no other process locks it");
        let [left, new, other] = ["alcedo-left", "alcedo-new", "other"].map(|name| base.path().join(name));
        [&left, &new, &other].into_iter().for_each(|dir| fs::create_dir(dir).expect("made"));
        [&left, &other].into_iter().for_each(|dir| fs::write(dir.join(LOCK), "").expect("written"));
        imp::sweep(base.path(), "alcedo-");
        assert_eq!([&left, &new, &other].map(|dir| dir.exists()), [false, true, true]);
        assert!(live.path().exists());
    }
}
