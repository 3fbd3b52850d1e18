//! The folder for private copies: this user's alone whatever the umask says, and known as a living host's by a lock that
//! ends with the process, however that ends. Folders of hosts that were killed are removed by the next one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

/// How the names of such folders begin.
const PREFIX: &str = "alcedo-stage-";

/// The file that a living host keeps locked. A folder without it is still being made.
const LOCK: &str = "lock";

/// A folder of this process, removed on drop with all that is in it.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _dir: TempDir,
    /// Ends after the folder is gone. None where files cannot be locked; such a folder is never swept.
    lock: Mutex<Option<fs::File>>,
}

impl Folder {
    /// A new folder below the system's temporary directory. What dead hosts of this user have left there is removed
    /// first, as much as one start should pay for.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or another user could put another one in its place.
    pub(crate) fn new() -> io::Result<Self> {
        let base = fs::canonicalize(std::env::temp_dir())?;
        imp::check_ancestors(&base)?;
        imp::sweep(&base);
        let dir = imp::create(&base)?;
        let path = dir.path().to_owned();
        let lock = Mutex::new(lock(&path));
        Ok(Self { path, _dir: dir, lock })
    }

    /// Creates the folder again, as [`Folder::new`] does, if a program has removed it since. Any thread.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or another user has put another one in its place.
    pub(crate) fn renew(&self) -> io::Result<()> {
        let mut held = crate::lock(&self.lock);
        if imp::renew(&self.path)? {
            tracing::warn!(path = %self.path.display(), "the folder for copies was removed, and is created again");
            *held = lock(&self.path);
        }
        Ok(())
    }

    /// The folder, without symbolic links: the system reports mapped files by their real path, so the names given to the
    /// loader are real ones too.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn lock(path: &Path) -> Option<fs::File> {
    let lock = imp::lock(path).inspect_err(|error| {
        tracing::debug!(path = %path.display(), %error, "the folder for copies stays behind if this host is killed");
    });
    lock.ok()
}

/// Whether a file lies in the folder of a living host of this machine, and so is a private copy of an image.
pub(crate) fn is_copy(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
}

/// A new file that only this user may read or write, whatever the umask.
pub(crate) fn create_private(path: &Path) -> io::Result<fs::File> {
    imp::create_private(path)
}

/// A file that is there: no link, and writable by no other user.
pub(crate) fn open_private(path: &Path, write: bool) -> io::Result<fs::File> {
    imp::open_private(path, write)
}

#[cfg(unix)]
mod imp {
    use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
    use std::io::{self, Read as _, Write as _};
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
    use rustix::process::geteuid;
    use tempfile::TempDir;

    use super::{LOCK, PREFIX};
    use crate::notes;

    /// A start removes no more folders than this, and looks at no more names: the rest is for the next one.
    const MOST_FOLDERS: usize = 64;
    const MOST_NAMES: usize = 20_000;

    /// The owner of what belongs to nobody in this user namespace: as a rule the system's own folders, seen from a
    /// container.
    const UNMAPPED: u32 = 65_534;

    /// The mode of the folder.
    const FOLDER: u32 = 0o700;

    /// The mode of files here.
    const PRIVATE: u32 = 0o600;

    /// How the lock file is called until it is locked.
    const UNLOCKED: &str = "lock.new";

    /// The line of the lock file that names the folder of a supervisor.
    const SUPERVISOR: &str = "supervisor ";

    /// Whether only this user and the administrator can put another folder in the place of one below `base`. Members of a
    /// folder's group are trusted with it: many systems give each user a group of their own.
    pub(super) fn check_ancestors(base: &Path) -> io::Result<()> {
        let own = geteuid().as_raw();
        for dir in base.ancestors() {
            let found = fs::metadata(dir)?;
            let is_sticky = found.mode() & 0o1000 != 0;
            let reason = match found.uid() {
                uid if ![0, own, UNMAPPED].contains(&uid) => {
                    format!("belongs to user {uid}, who is not this one ({own})")
                }
                _ if found.mode() & 0o002 != 0 && !is_sticky => {
                    format!("may be written by everybody and is not sticky (mode {:04o})", found.mode() & 0o7777)
                }
                _ => continue,
            };
            let told = format!(
                "{} {reason}, so others could replace what is mapped from there: point TMPDIR to a folder of your own",
                dir.display()
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, told));
        }
        Ok(())
    }

    /// A new folder with mode 0700.
    pub(super) fn create(base: &Path) -> io::Result<TempDir> {
        let private = Permissions::from_mode(FOLDER);
        let dir = tempfile::Builder::new().prefix(PREFIX).permissions(private.clone()).tempdir_in(base)?;
        // The umask may have taken from it what its owner needs.
        fs::set_permissions(dir.path(), private)?;
        check(dir.path())?;
        Ok(dir)
    }

    /// Creates the folder at this path, with mode 0700, unless there is one. Returns whether there was none.
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

    /// Checks that the folder is this user's alone.
    fn check(path: &Path) -> io::Result<()> {
        let found = open_dir(path)?.metadata()?;
        match is_private(&found) {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "{} was just made and is not this user's alone (owner {}, mode {:04o}): point TMPDIR to a file system \
                     that keeps owners and modes",
                    path.display(),
                    found.uid(),
                    found.mode() & 0o7777
                ),
            )),
        }
    }

    fn is_private(found: &fs::Metadata) -> bool {
        found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0
    }

    pub(super) fn create_private(path: &Path) -> io::Result<File> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE).open(path)?;
        if file.metadata()?.mode() & 0o777 != PRIVATE {
            file.set_permissions(Permissions::from_mode(PRIVATE))?;
        }
        Ok(file)
    }

    pub(super) fn open_private(path: &Path, write: bool) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new().read(true).write(write).custom_flags(flags.bits().cast_signed()).open(path)?;
        let found = file.metadata()?;
        match found.is_file() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0 {
            true => Ok(file),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "{} is no file that only this user may write (owner {}, mode {:04o})",
                    path.display(),
                    found.uid(),
                    found.mode() & 0o7777
                ),
            )),
        }
    }

    /// Opens a folder itself, not what a link leads to.
    fn open_dir(path: &Path) -> io::Result<File> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
    }

    /// Locks a new folder. The file appears under its name when it is locked, so no process ever finds it and takes the
    /// lock of a host that has just begun.
    pub(super) fn lock(dir: &Path) -> io::Result<File> {
        let path = dir.join(UNLOCKED);
        let mut file = create_private(&path)?;
        file.try_lock().inspect_err(|_| drop(fs::remove_file(&path)))?;
        if let Some(supervisor) = notes::reported_into() {
            file.write_all(SUPERVISOR.as_bytes())?;
            file.write_all(supervisor.as_os_str().as_bytes())?;
        }
        fs::rename(&path, dir.join(LOCK))?;
        Ok(file)
    }

    /// Removes folders of this user whose hosts are dead. What cannot be looked at or removed is left.
    pub(super) fn sweep(base: &Path) {
        let (Ok(here), Ok(names)) = (open_dir(base), fs::read_dir(base)) else { return };
        let ours = names.take(MOST_NAMES).flatten().map(|entry| entry.file_name());
        let ours = ours.filter(|name| name.as_bytes().starts_with(PREFIX.as_bytes()));
        let swept = ours.filter(|name| sweep_one(&here, name.as_bytes()).unwrap_or(false)).take(MOST_FOLDERS).count();
        if swept > 0 {
            tracing::debug!(swept, base = %base.display(), "removed copies of libraries that killed hosts had left");
        }
    }

    /// Whether the folder was a dead host's, and is gone. Everything is opened by its name in a folder that is open, links
    /// are never followed, and only files are removed.
    fn sweep_one(base: &File, name: &[u8]) -> io::Result<bool> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let dir = File::from(openat(base, name, flags | OFlags::DIRECTORY, Mode::empty())?);
        if !is_private(&dir.metadata()?) {
            return Ok(false);
        }
        let mut lock = File::from(openat(&dir, LOCK, flags | OFlags::RDWR, Mode::empty())?);
        if !lock.metadata()?.is_file() || lock.try_lock().is_err() {
            return Ok(false);
        }
        let mut text = Vec::new();
        lock.read_to_end(&mut text)?;
        if text.strip_prefix(SUPERVISOR.as_bytes()).is_some_and(is_held) {
            return Ok(false);
        }
        // The lock goes last: a sweep that is cut short is done again.
        let mut left = false;
        for entry in rustix::fs::Dir::read_from(&dir)? {
            let entry = entry?;
            let file = entry.file_name();
            if ![".", "..", LOCK].map(str::as_bytes).contains(&file.to_bytes()) {
                left |= unlinkat(&dir, file, AtFlags::empty()).is_err();
            }
        }
        if left {
            return Ok(false);
        }
        unlinkat(&dir, LOCK, AtFlags::empty())?;
        unlinkat(base, name, AtFlags::REMOVEDIR)?;
        Ok(true)
    }

    /// Whether a supervisor is still at work with what its host has left.
    fn is_held(path: &[u8]) -> bool {
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        open_dir(&path).is_ok_and(|dir| dir.try_lock_shared().is_err())
    }
}

#[cfg(not(unix))]
mod imp {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use tempfile::TempDir;

    /// Folders for temporary files are a user's own here.
    pub(super) fn check_ancestors(_base: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn create(base: &Path) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix(super::PREFIX).tempdir_in(base)
    }

    /// Creates the folder at this path, unless there is one. Returns whether there was none.
    pub(super) fn renew(path: &Path) -> io::Result<bool> {
        match std::fs::create_dir(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn lock(dir: &Path) -> io::Result<File> {
        let file = create_private(&dir.join(super::LOCK))?;
        file.try_lock()?;
        Ok(file)
    }

    pub(super) fn create_private(path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(path)
    }

    pub(super) fn open_private(path: &Path, write: bool) -> io::Result<File> {
        File::options().read(true).write(write).open(path)
    }

    /// Folders of dead hosts are left to the system.
    pub(super) fn sweep(_base: &Path) {}
}
