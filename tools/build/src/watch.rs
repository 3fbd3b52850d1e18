//! Reports changes to sources. `debounce.rs` decides which files are sources, and when a burst of changes is over. Cargo decides which
//! crates to compile.

use crate::copy::{TAG, is_built, is_hidden};
use crate::debounce::{is_cargo_file, is_made_by_tools, is_source, is_source_folder};
use crate::error::WatchError;
use crate::lock;
use crate::record::{CONFIGURATION, cargo_files};
use crate::scripts::{SCRIPT_CLASSES, script_files};
use alcedo_sys::FolderWatch;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecursiveMode};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Instant;

/// Change of a source file, or of all files in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEvent {
    /// Time at which the event was received.
    pub at: Instant,
    /// Path of the changed file, which may have been deleted. If a whole folder appeared, or if the system dropped events, the path of the
    /// folder.
    pub path: PathBuf,
}

/// Limit of watched folders for each folder that a build script lists.
const MOST_FOLDERS: usize = 1_000;

/// Event that the operating system has reported, and its time.
type Raw = (Instant, notify::Result<Event>);

/// Watch on source folders. Dropping this value ends the watch.
///
/// # Examples
/// ```no_run
/// use std::path::PathBuf;
/// use std::time::Instant;
///
/// use alcedo_build::{Debounce, SourceWatch};
///
/// let watch = SourceWatch::new(&[PathBuf::from("plugins")])?;
/// let (started, mut saves) = (Instant::now(), Debounce::default());
/// let event = watch.receiver().recv().expect("the watch continues");
/// saves.add(event.at.duration_since(started), &event.path);
/// if let Some(rest) = saves.due(started.elapsed()) {
///     std::thread::sleep(rest);
/// }
/// println!("changed: {:?}", saves.take());
/// # Ok::<(), alcedo_build::WatchError>(())
/// ```
#[derive(Debug)]
pub struct SourceWatch {
    receiver: Receiver<SourceEvent>,
    watcher: Arc<Mutex<FolderWatch>>,
    /// Folders that are watched recursively, and folders that are watched without recursion.
    folders: (Vec<PathBuf>, Vec<PathBuf>),
    inputs: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl SourceWatch {
    /// Watches `dirs` recursively. Watches each parent folder with a `Cargo.toml` without recursion, because such a folder also contains
    /// the large folder `target`, which changes in every build. Also watches cargo's configuration, toolchain and lock files in these
    /// folders, existing files of these kinds in parent folders, the manifests of new folders next to packages, and new folders next to
    /// packages of scripts.
    pub fn new(dirs: &[PathBuf]) -> Result<Self, WatchError> {
        let (sender, receiver) = unbounded();
        let (deep, flat) = folders(dirs);
        let (raw_sender, raw) = unbounded();
        let on_event = move |event| drop(raw_sender.send((Instant::now(), event)));
        let mut watcher = FolderWatch::new(on_event).map_err(|source| WatchError::NoWatcher { source })?;
        let watched_deep = deep.iter().map(|dir| (dir, RecursiveMode::Recursive));
        let watched_flat = flat.iter().map(|dir| (dir, RecursiveMode::NonRecursive));
        for (dir, mode) in watched_deep.chain(watched_flat) {
            watcher.add(dir, mode).map_err(|source| WatchError::Dir { dir: dir.clone(), source })?;
        }
        let configurations: Vec<_> = flat.iter().map(|dir| dir.join(CONFIGURATION)).collect();
        configurations.iter().for_each(|dir| add_flat(&mut watcher, dir));
        watcher.refresh(); // Watches the parents.
        let watcher = Arc::new(Mutex::new(watcher));
        let weak = Arc::downgrade(&watcher);
        let (deep, flat): (Vec<_>, Vec<_>) =
            (deep.into_iter().collect(), flat.into_iter().chain(configurations).collect());
        let inputs = Arc::<Mutex<BTreeSet<PathBuf>>>::default();
        let (known, folders) = (Arc::clone(&inputs), (deep.clone(), flat.clone()));
        thread::spawn(move || listen(&raw, &weak, (&deep, &flat), &known, &sender));
        let watch = Self { receiver, watcher, folders, inputs };
        watch.add_inputs([]);
        Ok(watch)
    }

    /// Watches additional files with any name, for example the result of [`Artifact::inputs`](crate::Artifact::inputs): included files, and
    /// sources outside the watched folders. A file need not exist. For a link to a file or to a folder above it, watches the link and its
    /// target. For a folder that a build script lists, also watches the files in this folder and its subfolders, up to 1,000 folders,
    /// without following links. Skips files in target folders, hidden files of listed folders, and all files of a listed package, because
    /// otherwise each build or program that writes there would cause another build.
    ///
    /// # Examples
    /// ```no_run
    /// use std::path::PathBuf;
    ///
    /// let watch = alcedo_build::SourceWatch::new(&[PathBuf::from("plugins")])?;
    /// watch.add_inputs([PathBuf::from("data/names.txt")]);
    /// # Ok::<(), alcedo_build::WatchError>(())
    /// ```
    pub fn add_inputs(&self, files: impl IntoIterator<Item = PathBuf>) {
        let (deep, flat) = &self.folders;
        // Finds the files of cargo again, because a changed manifest may name another workspace.
        let environment = std::env::vars_os().collect();
        let packages: Vec<_> = flat.iter().filter(|dir| !dir.ends_with(CONFIGURATION)).cloned().collect();
        let of_cargo = cargo_files(&[], &packages, &environment);
        let files = files.into_iter().chain(of_cargo.into_iter().filter(|file| file.is_file()));
        let mut inputs = lock(&self.inputs);
        let mut watcher = lock(&self.watcher);
        let earlier: BTreeSet<_> = inputs.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        let mut new = BTreeSet::new();
        let files: Vec<_> = files.filter(|file| !is_generated(file, deep, flat)).collect();
        // Also watches a link itself, because a link to another file or folder may replace it.
        let links = links(&files);
        // A link may point to a file that each build writes.
        let real = files.iter().map(|file| real_path(file)).filter(|file| !is_generated(file, deep, flat));
        let real: Vec<PathBuf> = real.collect();
        let folders: BTreeSet<_> = real.iter().filter_map(|file| file.parent()).collect();
        let built: BTreeSet<_> = folders.into_iter().filter(|folder| is_in_built(folder, deep, flat)).collect();
        let real = real.iter().filter(|file| file.parent().is_none_or(|folder| !built.contains(folder))).cloned();
        for file in real.flat_map(with_folders).chain(links) {
            // Skips files in watched folders, because a second watch of a folder would replace its recursion mode.
            if !is_watched(&file, deep, flat) {
                new.extend(file.parent().map(Path::to_owned).filter(|folder| !earlier.contains(folder)));
            }
            inputs.insert(file);
        }
        new.iter().for_each(|folder| add_flat(&mut watcher, folder));
    }

    /// Returns the channel of events, for `select!`. Pass each event to [`Debounce::add`](crate::Debounce::add).
    pub fn receiver(&self) -> &Receiver<SourceEvent> {
        &self.receiver
    }
}

/// Watches a folder without recursion. The folder may be missing.
fn add_flat(watcher: &mut FolderWatch, folder: &Path) {
    if let Err(error) = watcher.add(folder, RecursiveMode::NonRecursive) {
        tracing::debug!(
            "{} cannot be watched: {error}; changes of its files are missed until it can",
            folder.display()
        );
    }
}

/// Returns the path with all links resolved. For a missing file, resolves only the path of its folder. Returns the path unchanged if the
/// folder is also missing.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use alcedo_build::real_path;
///
/// assert_eq!(real_path(Path::new("/no-such-folder/lib.rs")), Path::new("/no-such-folder/lib.rs"));
/// ```
pub fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().ok().or_else(|| in_real_folder(path)).unwrap_or_else(|| path.to_owned())
}

/// Resolves the links in the path of a file's folder, but not a link at the path itself. Returns `None` if the folder is missing.
fn in_real_folder(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Returns the links among paths and the folders above them. The results have no links in the paths of their folders.
///
/// # Examples
/// ```
/// use alcedo_build::links;
///
/// assert!(links(&["/no-such-folder/lib.rs".into()]).is_empty());
/// ```
pub fn links(paths: &[PathBuf]) -> Vec<PathBuf> {
    // Checks each folder once, because most files share their folders.
    let parts: BTreeSet<_> = paths.iter().flat_map(|path| path.ancestors()).collect();
    parts.into_iter().filter(|part| part.is_symlink()).filter_map(in_real_folder).collect()
}

/// Returns the path. For a folder, also returns the paths of [`TAG`] in this folder and in its subfolders. In `inputs`, such a path marks a
/// folder whose content is an input. Excludes the folder of a package, because programs write their files there.
fn with_folders(path: PathBuf) -> Vec<PathBuf> {
    let is_package = path.join("Cargo.toml").is_file();
    let is_listed = path.is_dir() && !is_package && !path.ancestors().any(|folder| folder.join(TAG).is_file());
    let mut folders: Vec<_> = is_listed.then(|| path.clone()).into_iter().collect();
    let mut at = 0;
    while let Some(folder) = folders.get(at).filter(|_| folders.len() < MOST_FOLDERS) {
        // Does not follow links, because a link may point to a parent folder.
        let inner = fs::read_dir(folder).into_iter().flatten().flatten();
        let inner = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
        folders.extend(inner.filter(|folder| is_content(folder)).collect::<Vec<_>>());
        at += 1;
    }
    folders.into_iter().take(MOST_FOLDERS).map(|folder| folder.join(TAG)).chain([path]).collect()
}

/// Returns `true` for a file or folder that belongs to the content of its folder, if a build script lists this folder.
fn is_content(path: &Path) -> bool {
    let parts = path.parent().zip(path.file_name());
    parts.is_some_and(|(folder, name)| !is_hidden(name) && !is_built(folder, Path::new(name)))
}

/// Returns the folders to watch recursively, and the folders to watch without recursion. The sets are disjoint, because a second watch of a
/// folder would replace the mode of the first watch.
fn folders(dirs: &[PathBuf]) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let all: BTreeSet<_> = dirs.iter().map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.clone())).collect();
    let covered = |dir: &Path, by_itself: bool| {
        dir.ancestors().skip(usize::from(!by_itself)).any(|ancestor| all.contains(ancestor))
    };
    let deep = all.iter().filter(|dir| !covered(dir, false)).cloned().collect();
    let above = all.iter().flat_map(|dir| dir.ancestors().skip(1));
    let flat =
        above.filter(|dir| dir.join("Cargo.toml").is_file() && !covered(dir, true)).map(Path::to_owned).collect();
    (deep, flat)
}

/// Forwards relevant events to `sender`. Returns when the watch is dropped and `raw` is therefore closed.
fn listen(
    raw: &Receiver<Raw>,
    watcher: &Weak<Mutex<FolderWatch>>,
    (deep, flat): (&[PathBuf], &[PathBuf]),
    inputs: &Mutex<BTreeSet<PathBuf>>,
    sender: &Sender<SourceEvent>,
) {
    loop {
        let (at, event) = match raw.recv_timeout(FolderWatch::INTERVAL) {
            Ok((at, Ok(event))) => (at, Some(event)),
            Ok((at, Err(error))) => {
                tracing::warn!("the file watcher reports {error}: a change may have been missed, save again");
                (at, None)
            }
            Err(RecvTimeoutError::Timeout) => (Instant::now(), None),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // Ignores the error that occurs after the receiver was dropped.
        let send = |path: PathBuf| drop(sender.send(SourceEvent { at, path }));
        for folder in arrived(watcher, event.as_ref()) {
            let inputs = lock(inputs);
            let is_configuration = folder.ends_with(CONFIGURATION) && flat.contains(&folder);
            if is_configuration || deep.contains(&folder) || inputs.contains(&folder.join(TAG)) {
                send(folder.clone());
            }
            let package = folder.ancestors().find(|dir| flat.iter().any(|flat| *flat == **dir));
            package.map(|dir| dir.join("Cargo.toml")).filter(|manifest| manifest.is_file()).into_iter().for_each(send);
            inputs.iter().filter(|file| file.parent() == Some(&*folder) && file.is_file()).cloned().for_each(send);
        }
        let Some(event) = event else { continue };
        let is_input = |path: &Path| {
            let inputs = lock(inputs);
            let is_in_listed = || path.parent().is_some_and(|folder| inputs.contains(&folder.join(TAG)));
            inputs.contains(path) || is_in_listed() && is_content(path)
        };
        for path in event.paths {
            let is_source = || {
                let is_source = is_source(&path) || is_cargo_file(&path);
                is_source && is_watched(&path, deep, flat) && !is_generated(&path, deep, flat)
            };
            let is_gone = is_move(event.kind) && !path.exists();
            let is_folder = || is_below(&path, deep) && (is_gone || is_arrival(event.kind) && path.is_dir());
            // Watches a new folder before reporting it, because its manifest or its scripts may be written later.
            let watch = |folder: &Path, input: PathBuf| {
                lock(inputs).insert(input);
                if let Some(watcher) = watcher.upgrade() {
                    add_flat(&mut lock(&watcher), folder);
                }
            };
            if is_arrival(event.kind) && is_next_to_package(&path, flat) && path.is_dir() {
                let manifest = path.join("Cargo.toml");
                watch(&path, manifest.clone());
                Some(manifest).filter(|manifest| manifest.is_file()).into_iter().for_each(send);
            }
            if is_arrival(event.kind) && is_next_to_scripts(&path, deep) && path.is_dir() {
                for folder in [&path, &path.join(SCRIPT_CLASSES)] {
                    watch(folder, folder.join(TAG));
                }
                Some(path.clone()).filter(|folder| !script_files(folder).is_empty()).into_iter().for_each(send);
            }
            if is_gone {
                // Reports each watched folder and file at or below the path, because the system reports none of them.
                let file =
                    |dir: &PathBuf| if dir.ends_with(CONFIGURATION) { dir.clone() } else { dir.join("Cargo.toml") };
                let inputs = lock(inputs);
                let watched = deep.iter().cloned().chain(flat.iter().map(file)).chain(inputs.iter().cloned());
                watched.filter(|watched| watched.starts_with(&path) && !watched.ends_with(TAG)).for_each(send);
            }
            if (is_change(event.kind) && (is_source() || is_input(&path))) || is_folder() {
                send(path);
            }
        }
    }
}

/// Updates the watches after an event. Returns the folders in which all files may have changed: recreated folders, or all watched folders
/// if the system dropped events.
fn arrived(watcher: &Weak<Mutex<FolderWatch>>, event: Option<&Event>) -> BTreeSet<PathBuf> {
    let Some(watcher) = watcher.upgrade() else { return BTreeSet::new() };
    let mut watcher = lock(&watcher);
    let mut arrived = watcher.poll();
    arrived.extend(event.into_iter().flat_map(|event| watcher.follow(event)));
    arrived
}

/// Returns `true` for an event that changes a file. Compilers also open and read files, so the only access that counts is the end of a
/// write.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

/// Returns `true` for paths in watched folders. A file next to a recursively watched folder is watched only if the parent folder is also
/// watched.
fn is_watched(path: &Path, deep: &[PathBuf], flat: &[PathBuf]) -> bool {
    deep.iter().any(|dir| path.starts_with(dir)) || path.parent().is_some_and(|dir| flat.iter().any(|flat| flat == dir))
}

/// Returns `true` for source folders in recursively watched folders. Excludes all other locations, because a new folder there is often a
/// target folder.
fn is_below(path: &Path, deep: &[PathBuf]) -> bool {
    is_source_folder(path) && deep.iter().any(|dir| path.starts_with(dir)) && !is_generated(path, deep, &[])
}

/// Returns `true` for paths that git or cargo writes. Checks only the part of the path below the nearest watched folder, because a project
/// may itself be below a folder with the name `target`.
fn is_generated(path: &Path, deep: &[PathBuf], flat: &[PathBuf]) -> bool {
    let above = deep.iter().chain(flat).filter(|dir| path.starts_with(dir));
    let nearest = above.max_by_key(|dir| dir.as_os_str().len());
    is_made_by_tools(nearest.and_then(|dir| path.strip_prefix(dir).ok()).unwrap_or(path))
}

/// Returns `true` for a folder in a target folder of cargo with any name, for example the value of `CARGO_TARGET_DIR`. A build script that
/// writes an included file there would otherwise cancel its own build. Skips folders above watched folders, because a project may itself be
/// in a target folder.
fn is_in_built(folder: &Path, deep: &[PathBuf], flat: &[PathBuf]) -> bool {
    let is_above = |folder: &Path| deep.iter().chain(flat).any(|watched| watched.starts_with(folder));
    folder.ancestors().take_while(|folder| !is_above(folder)).any(|folder| folder.join(TAG).is_file())
}

/// Returns `true` for a folder next to a package of a workspace. If `members` of the workspace contains a pattern, the folder may be a new
/// member. The system already watches this folder's parent, because [`FolderWatch`] watches the parent of each package.
fn is_next_to_package(path: &Path, flat: &[PathBuf]) -> bool {
    let is_sibling = |dir: &PathBuf| dir.parent() == path.parent() && dir.join("Cargo.toml").is_file();
    let is_in_workspace = |parent: &Path| flat.iter().any(|dir| parent.starts_with(dir));
    let is_new = is_source_folder(path) && !is_generated(path, &[], flat);
    is_new && path.parent().is_some_and(is_in_workspace) && flat.iter().any(is_sibling)
}

/// Returns `true` for a folder next to a watched package of scripts. Such a folder may be a new package. The system already watches this
/// folder's parent, because [`FolderWatch`] watches the parent of each package.
fn is_next_to_scripts(path: &Path, deep: &[PathBuf]) -> bool {
    let is_sibling = |dir: &PathBuf| dir.parent() == path.parent() && !script_files(dir).is_empty();
    // Checks only the end of the path, because a project may itself be below a folder with the name `target`.
    let end = path.parent().and_then(Path::parent).and_then(|above| path.strip_prefix(above).ok());
    let is_new = is_source_folder(path) && !is_made_by_tools(end.unwrap_or(path));
    is_new && !deep.iter().any(|dir| dir == path) && deep.iter().any(is_sibling)
}

/// Returns `true` if a file or folder was created or moved. The system reports no events for the files in such a folder.
fn is_arrival(kind: EventKind) -> bool {
    matches!(kind, EventKind::Create(_)) || is_move(kind)
}

/// Returns `true` if a file or folder was moved to or from the path.
fn is_move(kind: EventKind) -> bool {
    matches!(kind, EventKind::Modify(ModifyKind::Name(_)))
}
