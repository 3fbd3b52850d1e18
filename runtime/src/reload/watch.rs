//! Watches the files of a Master for changes by a build. A build writes a library in many steps. The watch reports a change only after a
//! time without further changes. A script package is a folder. The watch reports changed, added and removed source files in this folder. A
//! watched library may be a link to a file in an unwatched folder. The watch therefore also compares the targets of links.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_sys::{FolderWatch, Stamp};
use crossbeam_channel::{Receiver, Select, unbounded};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecursiveMode};

/// Time without changes after which a file counts as quiet. The pauses of a linker between two writes are shorter.
const QUIET: Duration = Duration::from_millis(15);

/// File extension of script sources.
const TEXT: &str = "uc";
/// File name of the manifest of a script package.
const MANIFEST: &str = "package.toml";

/// Interval at which [`FileWatch::wait`] checks `is_over`.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Interval at which the watch compares the targets of links. Shorter in unit tests, which wait for several comparisons.
const LINK_INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 1000 });

/// Target of a link, with its stamp. The modification time alone is insufficient, because deployments may set this time to a constant.
type Target = (PathBuf, Stamp);

/// Error while watching files.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch {path}: {source}; is its folder there, and are there inotify watches left?")]
pub struct WatchError {
    path: PathBuf,
    source: notify::Error,
}

/// Debouncer for changes to files. Reads no clock. The caller passes the time.
#[derive(Debug, Default)]
struct Debounce {
    /// Time of the last change. `None` if no file has changed since the last report.
    last: Option<Duration>,
}

impl Debounce {
    fn note(&mut self, now: Duration) {
        self.last = Some(now);
    }

    fn take_quiet(&mut self, now: Duration) -> bool {
        self.last.take_if(|last| now.saturating_sub(*last) >= QUIET).is_some()
    }
}

/// Watch of several files. A watcher thread collects events, and [`FileWatch::is_quiet`] reads the events at safe points.
pub(crate) struct FileWatch {
    files: Vec<PathBuf>,
    events: Receiver<Event>,
    debounce: Debounce,
    /// Targets of the files. `None` for a file that is not a link.
    targets: Vec<Option<Target>>,
    /// Time of the last comparison of the targets.
    compared: Duration,
    start: Instant,
    folders: FolderWatch,
}

impl FileWatch {
    /// Watches the folders that contain `files`. A watch of the files themselves would miss a build that replaces a file. Returns an error
    /// if a folder cannot be watched.
    pub(crate) fn new(files: &[PathBuf]) -> Result<Self, WatchError> {
        let (sender, events) = unbounded();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| WatchError { path, source }
        };
        let mut watcher = FolderWatch::new(move |event: notify::Result<Event>| {
            // Ignores read events, because a reload reads the file.
            if let Some(event) = event.ok().filter(|event| is_change(event.kind)) {
                // `send` fails only after the receiver was dropped. The watcher is dropped immediately afterwards.
                let _sent = sender.send(event);
            }
        })
        .map_err(failed(Path::new("files")))?;
        let files = absolute(files);
        let packages: Vec<PathBuf> = files.iter().filter(|file| file.is_dir()).cloned().collect();
        let libraries = files.iter().filter(|file| !packages.contains(file));
        let folders: BTreeSet<&Path> = libraries.filter_map(|file| file.parent()).collect();
        for folder in folders.into_iter().filter(|folder| !packages.iter().any(|package| folder.starts_with(package))) {
            watcher.add(folder, RecursiveMode::NonRecursive).map_err(failed(folder))?;
        }
        for package in &packages {
            watcher.add(package, RecursiveMode::Recursive).map_err(failed(package))?;
        }
        watcher.refresh(); // Watches the parent folders.
        let targets = files.iter().map(|file| target(file)).collect();
        let (debounce, compared, start) = (Debounce::default(), Duration::ZERO, Instant::now());
        Ok(Self { files, events, debounce, targets, compared, start, folders: watcher })
    }

    /// Checks if these files are watched.
    pub(crate) fn has_files(&self, files: &[PathBuf]) -> bool {
        self.files == absolute(files)
    }

    /// Notes a change of a file that occurred before the watch started.
    pub(crate) fn note_change(&mut self) {
        self.debounce.note(self.start.elapsed());
    }

    /// Checks if a file has changed since the last report. The caller must end the watch, because this call may be the report.
    pub(crate) fn has_change(&mut self) -> bool {
        // `is_quiet` first receives the pending events.
        self.is_quiet() || self.debounce.last.is_some()
    }

    /// Blocks until a watched file has changed and all files are quiet, then returns true. Returns false if `stop` receives a message, or
    /// if the sender of `stop` is dropped. Also returns false once `is_over` returns true. `is_over` is called a few times per second.
    pub(crate) fn wait(&mut self, stop: &Receiver<()>, is_over: impl Fn() -> bool) -> bool {
        loop {
            let mut select = Select::new();
            select.recv(&self.events);
            let stops = select.recv(stop);
            let timeout = if self.debounce.last.is_some() { QUIET } else { POLL_INTERVAL };
            let ready = select.ready_timeout(timeout).ok();
            if ready == Some(stops) || is_over() {
                return false;
            }
            if self.is_quiet() {
                return true;
            }
        }
    }

    /// Checks if a watched file has changed since the last call, and all files are quiet. Does not block.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let now = self.start.elapsed();
        let mut arrived = self.folders.poll();
        while let Ok(event) = self.events.try_recv() {
            arrived.extend(self.folders.follow(&event));
            if event.paths.iter().any(|path| self.files.iter().any(|file| concerns(file, path))) {
                self.debounce.note(now);
            }
        }
        for folder in arrived {
            let is_in_folder = |file: &&PathBuf| **file == folder || file.parent() == Some(&*folder);
            if self.files.iter().filter(is_in_folder).any(|file| file.exists()) {
                self.debounce.note(now);
            }
        }
        if now.saturating_sub(self.compared) >= LINK_INTERVAL {
            self.compared = now;
            if self.update_targets() {
                self.debounce.note(now);
            }
        }
        let is_quiet = self.debounce.take_quiet(now);
        if is_quiet {
            // The caller loads the current targets. The next comparison must not report these targets again.
            let _is_reported = self.update_targets();
        }
        is_quiet
    }

    /// Reads the targets of the links. Returns true if the target of a link has changed, or was absent before.
    fn update_targets(&mut self) -> bool {
        let mut has_changed = false;
        for (file, known) in self.files.iter().zip(&mut self.targets) {
            // An absent target does not count as a change, because a build is then replacing the target.
            let found = target(file);
            has_changed |= found.is_some() && found != *known;
            *known = found;
        }
        has_changed
    }
}

fn absolute(files: &[PathBuf]) -> Vec<PathBuf> {
    files.iter().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())).collect()
}

/// Returns the target of a link. Returns `None` if `file` is not a link, or if the target is not a file.
fn target(file: &Path) -> Option<Target> {
    let path = file.is_symlink().then(|| file.canonicalize().ok()).flatten()?;
    let found = path.metadata().ok().filter(Metadata::is_file)?;
    Some((path, Stamp::of(&found)))
}

/// Checks if the changed path is the watched file, or a source file or the manifest of the watched package.
fn concerns(watched: &Path, changed: &Path) -> bool {
    let is_hidden = || changed.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let is_text = || changed.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(TEXT)) && !is_hidden();
    let is_manifest = || changed.parent() == Some(watched) && changed.ends_with(MANIFEST);
    watched == changed || (changed.starts_with(watched) && (is_text() || is_manifest()))
}

/// Checks if an event reports a change to the file. Events for opening and reading a file do not count as changes.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => matches!(access, AccessKind::Close(AccessMode::Write | AccessMode::Any)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Debounce, FileWatch, LINK_INTERVAL, QUIET, concerns, is_change};
    use notify::EventKind;
    use notify::event::{AccessKind, AccessMode, ModifyKind};
    use std::time::Duration;

    #[test]
    fn reading_a_file_does_not_trigger_a_reload() {
        for (access, expected) in [
            (AccessKind::Open(AccessMode::Any), false),
            (AccessKind::Read, false),
            (AccessKind::Close(AccessMode::Read), false),
            (AccessKind::Close(AccessMode::Write), true),
        ] {
            assert_eq!(is_change(EventKind::Access(access)), expected, "{access:?}");
        }
        assert!(is_change(EventKind::Modify(ModifyKind::Any)) && is_change(EventKind::Any));
    }

    #[test]
    fn a_library_watches_itself_and_a_package_all_sources() {
        for (watched, changed, expected) in [
            ("/a/lib.so", "/a/lib.so", true),
            ("/a/lib.so", "/a/lib.so.tmp", false),
            ("/a/Tale", "/a/Tale/Cube.uc", true),
            ("/a/Tale", "/a/Tale/Classes/Cube.UC", true),
            ("/a/Tale", "/a/Tale/.Cube.uc.swp", false),
            ("/a/Tale", "/a/Tale/._Cube.uc", false),
            ("/a/Tale", "/a/Tale/package.toml", true),
            ("/a/Tale", "/a/Tale/Classes/package.toml", false),
            ("/a/Tale", "/a/Tale/Cargo.toml", false),
            ("/a/Tale", "/a/Tales/Cube.uc", false),
        ] {
            assert_eq!(concerns(watched.as_ref(), changed.as_ref()), expected, "{watched} {changed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn changes_of_a_linked_library_are_reported() {
        let (links, builds) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let [file, folder] = ["libweather.so", "current"].map(|name| links.path().join(name));
        let write = |build: &str, content: &str| {
            let path = builds.path().join(build).join("libweather.so");
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is writable");
            std::fs::write(&path, content).expect("it is writable");
        };
        let point = |build: &str| {
            let _old = std::fs::remove_file(&folder);
            std::os::unix::fs::symlink(builds.path().join(build), &folder).expect("it is writable");
        };
        write("1", "one");
        point("1");
        std::os::unix::fs::symlink(folder.join("libweather.so"), &file).expect("it is writable");
        let mut watch = FileWatch::new(&[file]).expect("a folder to watch");
        let mut reports = || {
            let begun = std::time::Instant::now();
            std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(5));
                watch.is_quiet()
            })
            .take_while(|_| begun.elapsed() < Duration::from_secs(20))
            .any(|is_quiet| is_quiet)
        };
        write("1", "longer");
        assert!(reports(), "the target was written to");
        write("2", "other");
        point("2");
        assert!(reports(), "a folder in the path of the target was replaced");
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_link_is_reported_once() {
        let (links, builds) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let [file, part] = ["libweather.so", "next"].map(|name| links.path().join(name));
        let point = |build: &str| {
            let target = builds.path().join(build);
            std::fs::write(&target, build).expect("it is writable");
            std::os::unix::fs::symlink(&target, &part).expect("it is writable");
            std::fs::rename(&part, &file).expect("it is writable");
        };
        point("one");
        let mut watch = FileWatch::new(std::slice::from_ref(&file)).expect("a folder to watch");
        point("other");
        let (begun, mut reports) = (std::time::Instant::now(), 0);
        while begun.elapsed() < LINK_INTERVAL * 3 {
            std::thread::sleep(Duration::from_millis(5));
            reports += u32::from(watch.is_quiet());
        }
        assert_eq!(reports, 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_target_of_equal_size_and_time_is_reported() {
        let (links, builds) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let [target, part] = ["libweather.so", "new"].map(|name| builds.path().join(name));
        let deliver = |content: &str| {
            std::fs::write(&part, content).expect("it is writable");
            let written = std::fs::File::options().append(true).open(&part).expect("it exists");
            written.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("it belongs to this user");
            std::fs::rename(&part, &target).expect("it is writable");
        };
        deliver("one");
        let file = links.path().join("libweather.so");
        std::os::unix::fs::symlink(&target, &file).expect("it is writable");
        let mut watch = FileWatch::new(&[file]).expect("a folder to watch");
        deliver("two");
        let begun = std::time::Instant::now();
        while !watch.is_quiet() {
            assert!(begun.elapsed() < Duration::from_secs(20), "the target was replaced");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_absent_target_is_reported_when_it_returns() {
        let (links, builds) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let [build, folder] = ["1", "current"].map(|name| builds.path().join(name));
        let point = || std::os::unix::fs::symlink(&build, &folder).expect("it is writable");
        std::fs::create_dir(&build).expect("it is writable");
        std::fs::write(build.join("libweather.so"), "one").expect("it is writable");
        point();
        let file = links.path().join("libweather.so");
        std::os::unix::fs::symlink(folder.join("libweather.so"), &file).expect("it is writable");
        let mut watch = FileWatch::new(&[file]).expect("a folder to watch");
        let mut reports = |time: Duration| {
            let begun = std::time::Instant::now();
            std::iter::repeat_with(|| {
                std::thread::sleep(Duration::from_millis(5));
                watch.is_quiet()
            })
            .take_while(|_| begun.elapsed() < time)
            .any(|is_quiet| is_quiet)
        };
        std::fs::remove_file(&folder).expect("it exists");
        assert!(!reports(LINK_INTERVAL * 2), "the target is absent");
        point();
        assert!(reports(Duration::from_secs(20)), "a load during the absence has failed");
    }

    #[test]
    fn a_changed_file_is_reported_after_a_quiet_time() {
        let mut debounce = Debounce::default();
        assert!(!debounce.take_quiet(Duration::ZERO));
        debounce.note(Duration::from_millis(1));
        assert!(!debounce.take_quiet(Duration::from_millis(5)));
        debounce.note(Duration::from_millis(10));
        assert!(!debounce.take_quiet(Duration::from_millis(16)));
        assert!(debounce.take_quiet(Duration::from_millis(10) + QUIET));
        assert!(!debounce.take_quiet(Duration::from_secs(9)));
    }
}
