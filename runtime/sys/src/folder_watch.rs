//! Watches folders by path. The system watches the folder itself instead of its path. If the folder is deleted, moved or replaced, the
//! watch of the system ends, and this module creates a new watch for the path.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventHandler, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::stamp::FileId;

/// Watch on folders by path. The nearest existing parent of each folder is watched too, except the root of the file system.
///
/// The owner passes all events to [`follow`](Self::follow), and calls [`poll`](Self::poll) at least every [`INTERVAL`](Self::INTERVAL).
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_sys::FolderWatch;
/// use notify::RecursiveMode;
///
/// let (sender, events) = std::sync::mpsc::channel::<notify::Result<notify::Event>>();
/// let mut watch = FolderWatch::new(sender)?;
/// watch.add(Path::new("/plugins/src"), RecursiveMode::Recursive)?;
/// let mut changed = watch.poll();
/// if let Ok(Ok(event)) = events.recv_timeout(FolderWatch::INTERVAL) {
///     changed.extend(watch.follow(&event));
/// }
/// println!("folders with new content: {changed:?}");
/// # Ok::<(), notify::Error>(())
/// ```
#[derive(Debug)]
pub struct FolderWatch {
    watcher: RecommendedWatcher,
    /// Folders that the owner has added. A folder may be absent.
    roots: BTreeMap<PathBuf, RecursiveMode>,
    /// Watched roots and parents.
    watched: BTreeMap<PathBuf, Watched>,
    /// Folders for which a failed watch was already logged.
    failed: BTreeSet<PathBuf>,
    /// Roots with a new watch that [`refresh`](Self::refresh) has not returned yet.
    arrived: BTreeSet<PathBuf>,
    checked: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Watched {
    mode: RecursiveMode,
    /// Identity of the watched folder. The system does not reuse the inode of a watched folder before it reports the removal.
    identity: FileId,
}

impl FolderWatch {
    /// Maximum interval between two calls of [`poll`](Self::poll). Polling is required, because distant parents are not watched, and events
    /// of nearer parents can be lost.
    pub const INTERVAL: Duration = Duration::from_secs(1);

    /// Creates a watch without folders. `handler` receives the events on another thread.
    ///
    /// # Errors
    /// The system provides no watcher.
    pub fn new(handler: impl EventHandler) -> notify::Result<Self> {
        Ok(Self {
            watcher: notify::recommended_watcher(handler)?,
            roots: BTreeMap::new(),
            watched: BTreeMap::new(),
            failed: BTreeSet::new(),
            arrived: BTreeSet::new(),
            checked: Instant::now(),
        })
    }

    /// Watches a folder. From the next [`refresh`](Self::refresh) on, also watches the parent of the folder. Folders with a recursive watch
    /// must not contain each other.
    ///
    /// # Errors
    /// The folder is absent or cannot be watched. Each later refresh tries again to watch the folder.
    pub fn add(&mut self, folder: &Path, mode: RecursiveMode) -> notify::Result<()> {
        self.roots.insert(folder.to_owned(), mode);
        let identity = identity(folder).ok_or_else(notify::Error::path_not_found)?;
        self.watcher.watch(folder, mode)?;
        self.watched.insert(folder.to_owned(), Watched { mode, identity });
        Ok(())
    }

    /// Updates the watches after an event. Returns the folders that have a new watch. All files in these folders may have changed.
    pub fn follow(&mut self, event: &Event) -> BTreeSet<PathBuf> {
        let is_create = matches!(event.kind, EventKind::Create(_));
        let is_loss = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        let concerns = |folder: &Path| event.need_rescan() || event.paths.iter().any(|path| folder.starts_with(path));
        if !(is_create || is_loss || event.need_rescan()) || !self.roots.keys().any(|root| concerns(root)) {
            return BTreeSet::new();
        }
        if !is_create {
            // Discards these watches. The watcher removes the watch on the path of a deleted folder, even if it already watches a new
            // folder there.
            self.retain(|folder, _| !concerns(folder));
        }
        self.refresh()
    }

    /// Calls [`refresh`](Self::refresh) if the last call was at least [`INTERVAL`](Self::INTERVAL) ago.
    pub fn poll(&mut self) -> BTreeSet<PathBuf> {
        if self.checked.elapsed() < Self::INTERVAL { BTreeSet::new() } else { self.refresh() }
    }

    /// Compares the watches with the file system and corrects them. Returns the folders that have a new watch.
    pub fn refresh(&mut self) -> BTreeSet<PathBuf> {
        // Repeats the correction after each new watch, because a folder may appear before the watch on its parent exists.
        while self.correct() {}
        self.checked = Instant::now();
        mem::take(&mut self.arrived)
    }

    /// Corrects the watches once. Returns `true` if a watch was added.
    fn correct(&mut self) -> bool {
        let required = self.required();
        self.retain(|folder, watched| required.get(folder) == Some(watched));
        let mut is_new = false;
        for (folder, watch) in required {
            if self.watched.contains_key(&folder) {
                continue;
            }
            let is_root = self.roots.contains_key(&folder);
            match self.watcher.watch(&folder, watch.mode) {
                Ok(()) => {
                    is_new = true;
                    self.failed.remove(&folder);
                    if is_root {
                        self.arrived.insert(folder.clone());
                    }
                    self.watched.insert(folder, watch);
                }
                Err(error) if self.failed.insert(folder.clone()) => {
                    let folder = folder.display();
                    if is_root {
                        log!(WARN, "{folder} cannot be watched: {error}; its changes are missed");
                    } else {
                        log!(
                            DEBUG,
                            "{folder} cannot be watched: {error}; a folder in it that is created again is detected later"
                        );
                    }
                }
                Err(_) => {}
            }
        }
        is_new
    }

    /// Ends all watches that are not current.
    fn retain(&mut self, is_current: impl Fn(&Path, &Watched) -> bool) {
        let watcher = &mut self.watcher;
        self.watched.retain(|folder, watched| {
            let is_current = is_current(folder, watched);
            if !is_current {
                let _ = watcher.unwatch(folder); // The watcher may already have removed a deleted folder.
            }
            is_current
        });
    }

    /// Returns the existing roots and the nearest existing parent of each root.
    fn required(&self) -> BTreeMap<PathBuf, Watched> {
        let mut required = BTreeMap::new();
        for (root, &mode) in &self.roots {
            if let Some(identity) = identity(root) {
                required.insert(root.clone(), Watched { mode, identity });
            }
        }
        for root in self.roots.keys() {
            let mut parents = root.ancestors().skip(1).take_while(|parent| parent.parent().is_some());
            let nearest = parents.find_map(|parent| identity(parent).map(|identity| (parent, identity)));
            let Some((parent, identity)) = nearest else { continue };
            let mut roots = self.roots.iter();
            if !roots.any(|(root, mode)| *mode == RecursiveMode::Recursive && parent.starts_with(root)) {
                let watch = Watched { mode: RecursiveMode::NonRecursive, identity };
                required.entry(parent.to_owned()).or_insert(watch);
            }
        }
        required
    }
}

/// Returns `None` if the path is not a folder.
fn identity(folder: &Path) -> Option<FileId> {
    fs::metadata(folder).ok().filter(Metadata::is_dir).map(|found| FileId::of(&found))
}
