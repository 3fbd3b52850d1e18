//! Temporary folder of a session. The folder is deleted at the end of the session. A later session deletes the folders of killed sessions.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use alcedo_runtime::development::plain_file;
use tempfile::TempDir;

use crate::error::{Error, file};

const PREFIX: &str = "alcedo-session-";

/// File that a running session keeps locked.
const LOCK: &str = "lock";

/// Minimum age of a folder that is deleted. The lock file of a new folder is not locked yet.
const OLD: Duration = Duration::from_secs(60);

/// Folder that only this user can access. It is locked as long as the value exists.
#[derive(Debug)]
pub(crate) struct SessionFolder {
    dir: TempDir,
    _lock: File,
}

impl SessionFolder {
    /// # Errors
    /// Fails with the error of the system if the folder cannot be created or locked.
    pub(crate) fn new() -> Result<Self, Error> {
        Self::new_in(&std::env::temp_dir(), OLD)
    }

    fn new_in(base: &Path, age: Duration) -> Result<Self, Error> {
        let dir = tempfile::Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(base);
        let dir = dir.map_err(file("create a folder for the session in", base))?;
        let lock = lock(dir.path()).map_err(file("lock", &dir.path().join(LOCK)))?;
        sweep(base, dir.path(), age);
        Ok(Self { dir, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn lock(dir: &Path) -> io::Result<File> {
    let lock = File::create_new(dir.join(LOCK))?;
    lock.try_lock()?;
    Ok(lock)
}

/// Checks if the session of a folder has ended. A folder without a lock file is still being created.
fn has_ended(dir: &Path) -> bool {
    plain_file::open(&dir.join(LOCK)).is_ok_and(|(lock, _)| lock.try_lock().is_ok())
}

/// Deletes the folders of killed sessions: folders of the user of `own` that are not locked.
fn sweep(base: &Path, own: &Path, age: Duration) {
    let Ok(own) = fs::metadata(own) else { return };
    let is_left = |dir: &Path| {
        let found = fs::symlink_metadata(dir)?;
        let elapsed = SystemTime::now().duration_since(found.modified()?).unwrap_or_default();
        io::Result::Ok(found.is_dir() && found.uid() == own.uid() && elapsed >= age)
    };
    for entry in fs::read_dir(base).into_iter().flatten().filter_map(Result::ok) {
        let dir = entry.path();
        let is_session = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_session && is_left(&dir).unwrap_or(false) && has_ended(&dir) {
            // Ignores errors: a remaining file only uses space in the temporary folder.
            let _swept = fs::remove_dir_all(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::{LOCK, OLD, PREFIX, SessionFolder};

    #[test]
    fn folders_of_killed_sessions_are_deleted_and_others_stay() {
        let base = tempfile::tempdir().unwrap();
        let live = SessionFolder::new_in(base.path(), OLD).unwrap();
        let [left, other] = [PREFIX, "alcedo-other-"].map(|prefix| base.path().join(format!("{prefix}x")));
        for dir in [&left, &other] {
            fs::create_dir_all(dir.join("1/0")).unwrap();
            fs::write(dir.join("1/0/library"), "code").unwrap();
            fs::write(dir.join(LOCK), "").unwrap();
        }
        let _new = SessionFolder::new_in(base.path(), OLD).unwrap();
        assert!(left.is_dir(), "it is too young");
        let _new = SessionFolder::new_in(base.path(), Duration::ZERO).unwrap();
        assert_eq!([left.exists(), other.exists(), live.path().exists()], [false, true, true]);
        let path = live.path().to_owned();
        drop(live);
        assert!(!path.exists());
    }
}
