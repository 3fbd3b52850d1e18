//! Saved state of `alcedo follow`, stored next to its document. The state consists of the last good files of each host, and the contents of
//! these files. A host can therefore return to its last good files even if the registry cannot be reached, and even after a restart of this
//! program.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use alcedo_runtime::Version;
use alcedo_runtime::development::plain_file::{self, LARGEST_LIBRARY, sha256};
use anyhow::{anyhow, bail};
use serde::{Deserialize, Serialize};

use super::rollout::Files;
use crate::error::{Error, file};

/// Maximum size of the saved state in bytes.
const LARGEST_STATE: u64 = 1 << 24;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// Last good files of each host.
    pub(super) good: BTreeMap<String, Files>,
    /// Fetched libraries by reference. A reference contains a digest, so its library for `target` never changes.
    pub(super) resolved: BTreeMap<String, Library>,
    /// Target of the libraries in `resolved`.
    #[serde(default)]
    pub(super) target: String,
    pub(super) failed: Option<Failure>,
    /// Set during a rollout and the return of its hosts. If this program is killed during this time, hosts may have files that are neither
    /// known to be good nor watched by this program.
    #[serde(default)]
    pub(super) is_unfinished: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Library {
    pub(super) module: String,
    pub(super) version: Version,
    /// Digest of the file.
    pub(super) digest: String,
}

impl State {
    /// Returns the version of the first library in `digests` that `resolved` contains.
    pub(super) fn version_of<'d>(&self, digests: impl IntoIterator<Item = &'d String>) -> Option<Version> {
        let library = |digest: &String| self.resolved.values().find(|library| library.digest == *digest);
        digests.into_iter().find_map(library).map(|library| library.version.clone())
    }
}

/// Desired state that has failed, and is not tried again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// Id of the document.
    pub(super) document: String,
    pub(super) host: String,
    pub(super) reason: String,
}

/// Folder with the saved state and the libraries. Only one process may use this folder.
pub(super) struct Store {
    folder: PathBuf,
    /// Locked while a library is written, because two threads may write one library.
    writing: Mutex<()>,
    _lock: File,
}

impl Store {
    /// Opens the state folder that belongs to a document, and creates this folder if it does not exist.
    ///
    /// # Errors
    /// Fails if the folder cannot be created, or if another process uses it.
    pub(super) fn open(document: &Path) -> Result<Self, Error> {
        let folder = document.with_added_extension("state");
        fs::create_dir_all(&folder).map_err(file("make", &folder))?;
        let path = folder.join("lock");
        let lock =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(file("write", &path))?;
        if lock.try_lock().is_err() {
            bail!("another `alcedo follow` follows {}: end that process first", document.display());
        }
        Ok(Self { folder, writing: Mutex::new(()), _lock: lock })
    }

    fn state_file(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    fn library(&self, digest: &str) -> PathBuf {
        self.folder.join(digest.replace(':', "-"))
    }

    pub(super) fn state(&self) -> Result<State, Error> {
        let path = self.state_file();
        match plain_file::read(&path, LARGEST_STATE) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                anyhow!(
                    "could not read {}: {error}; delete the file to take the present files of the hosts as good",
                    path.display()
                )
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
            Err(error) => Err(file("read", &path)(error)),
        }
    }

    pub(super) fn save(&self, state: &State) -> Result<(), Error> {
        let path = self.state_file();
        plain_file::replace(&path, &serde_json::to_vec_pretty(state)?).map_err(file("write", &path))
    }

    /// Returns the library with this digest. Returns `None` if the library is missing or damaged.
    pub(super) fn get(&self, digest: &str) -> Option<Vec<u8>> {
        plain_file::read(&self.library(digest), LARGEST_LIBRARY).ok().filter(|bytes| sha256(bytes) == digest)
    }

    pub(super) fn put(&self, digest: &str, bytes: &[u8]) -> Result<(), Error> {
        let _writing = self.writing.lock();
        if self.get(digest).is_some() {
            return Ok(());
        }
        let path = self.library(digest);
        plain_file::replace(&path, bytes).map_err(file("write", &path))
    }

    /// Removes libraries that are neither last good files of a host nor resolved references. Ignores errors, because remaining files only
    /// occupy space.
    pub(super) fn prune(&self, state: &State) {
        let good = state.good.values().flat_map(|files| files.values());
        let needed: Vec<_> = good.chain(state.resolved.values().map(|library| &library.digest)).collect();
        let needed: Vec<_> = needed.into_iter().map(|digest| self.library(digest)).collect();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_library = entry.file_name().to_string_lossy().starts_with("sha256-");
            if is_library && !needed.contains(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use alcedo_runtime::development::plain_file::sha256;

    use super::{Files, Library, State, Store};

    #[test]
    fn a_running_library_has_the_version_with_which_it_was_fetched() {
        let [damaged, good] = ["damaged", "good"].map(|content| sha256(content.as_bytes()));
        let version: alcedo_runtime::Version = "1.2.0".parse().expect("a version");
        let library = Library { module: "lamp".to_owned(), version: version.clone(), digest: good.clone() };
        let state = State { resolved: [("lamp".to_owned(), library)].into(), ..State::default() };
        assert_eq!(state.version_of([&damaged, &good]), Some(version));
        assert_eq!(state.version_of([&damaged]), None);
    }

    #[test]
    fn a_lock_changes_no_file_behind_a_link() {
        let dir = tempfile::tempdir().expect("a folder");
        let [document, state, other] =
            ["plugins.toml", "plugins.toml.state", "other"].map(|name| dir.path().join(name));
        fs::create_dir(&state).expect("a folder");
        fs::write(&other, "other").expect("written");
        std::os::unix::fs::symlink(&other, state.join("lock")).expect("a link");
        let _store = Store::open(&document).expect("a store");
        assert_eq!(fs::read_to_string(&other).expect("it stays"), "other");
    }

    #[test]
    fn a_store_keeps_the_good_libraries_and_detects_damage() {
        let dir = tempfile::tempdir().expect("a folder");
        let document = dir.path().join("plugins.toml");
        let store = Store::open(&document).expect("a store");
        let other = Store::open(&document).err().expect("it is in use").to_string();
        assert!(other.starts_with("another `alcedo follow` follows "), "{other}");
        let (old, new) = (sha256(b"old"), sha256(b"new"));
        store.put(&old, b"old").expect("written");
        store.put(&new, b"new").expect("written");
        assert_eq!(store.get(&new).as_deref(), Some(&b"new"[..]));
        let mut state = store.state().expect("no state yet");
        state.good.insert("a".into(), Files::from([("lib.so".to_owned(), old.clone())]));
        store.save(&state).expect("written");
        store.prune(&store.state().expect("the saved state"));
        assert_eq!((store.get(&new), store.get(&old).as_deref()), (None, Some(&b"old"[..])));
        fs::write(store.library(&old), b"odd").expect("damaged");
        assert_eq!(store.get(&old), None);
        store.put(&old, b"old").expect("repaired");
        assert_eq!(store.get(&old).as_deref(), Some(&b"old"[..]));
        assert!(State::default().failed.is_none());
    }
}
