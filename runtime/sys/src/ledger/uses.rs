//! Kinds of resources that an image has used so far, with the first use of each kind, as reported by the hooks of the image. A host
//! compares these uses with the permissions that the module declares.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub use crate::imp::Snapshot as UseSnapshot;
use crate::lock;

/// Kind of resource for which the hooks of an image report uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum UseKind {
    /// Socket, except an end of a pair of connected local sockets.
    Socket,
    /// File or folder. Excludes libraries, debug symbols and files of the kernel, because the standard library opens these for backtraces.
    File,
    /// Thread.
    Thread,
    /// Action of a signal, or a timer of `alarm`, `ualarm` or `setitimer`.
    Signal,
}

/// First use of a kind of resource by an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Use {
    /// Kind of resource.
    pub kind: UseKind,
    /// Description as a verb with its object, such as ``called `pthread_create` ``.
    pub by: String,
}

/// Number of noted uses of all images.
static NOTED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of uses that the hooks of all images have reported. The number increases with each new entry of
/// [`Ledger::uses`](crate::Ledger::uses), so a caller can skip all ledgers while the number is unchanged.
pub fn uses_noted() -> u64 {
    NOTED.load(Ordering::Relaxed)
}

/// First use of each kind by one image.
#[derive(Default)]
pub(crate) struct Uses {
    /// Noted kinds, one bit each. Read without the lock, because a signal handler may interrupt the holder of the lock.
    #[cfg(any(test, all(target_os = "linux", target_env = "gnu")))]
    noted: std::sync::atomic::AtomicU32,
    first: Mutex<Vec<Use>>,
}

impl Uses {
    pub(crate) fn all(&self) -> Vec<Use> {
        lock(&self.first).clone()
    }
}

#[cfg(any(test, all(target_os = "linux", target_env = "gnu")))]
impl Uses {
    /// Checks if a use of this kind is noted.
    pub(crate) fn has(&self, kind: UseKind) -> bool {
        self.noted.load(Ordering::Relaxed) & Self::bit(kind) != 0
    }

    fn bit(kind: UseKind) -> u32 {
        1 << kind as u32
    }

    /// Notes the first use of a kind. Ignores further uses of the kind, without calling `by`.
    pub(crate) fn note(&self, kind: UseKind, by: impl FnOnce() -> String) {
        if self.has(kind) {
            return;
        }
        let found = Use { kind, by: by() };
        let mut first = lock(&self.first);
        // Checks again, because another thread may have noted the kind.
        if !self.has(kind) {
            first.push(found);
            self.noted.fetch_or(Self::bit(kind), Ordering::Relaxed);
            NOTED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Checks if code of the plugin author may have opened the file at this path. Returns `false` for files that the standard library opens for
/// backtraces and for the number of processors: libraries, debug symbols, files of the kernel, and `program`, the running program.
#[cfg(any(test, all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn is_for_author(path: &str, program: Option<&str>) -> bool {
    const SYSTEM: [&str; 4] = ["/proc/", "/sys/", "/usr/lib/debug/", "/memfd:"];
    const DEBUG: [&str; 4] = [".debug", ".dwo", ".dwp", ".o"];
    let path = without_mark(path);
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_library = file.ends_with(".so") || file.contains(".so.");
    !is_library
        && program.map(without_mark) != Some(path)
        && !SYSTEM.iter().any(|folder| path.starts_with(folder))
        && !DEBUG.iter().any(|end| file.ends_with(end))
}

/// Removes the mark that the kernel appends to the path of a removed file.
#[cfg(any(test, all(target_os = "linux", target_env = "gnu")))]
fn without_mark(path: &str) -> &str {
    path.strip_suffix(" (deleted)").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{Use, UseKind, Uses, is_for_author, lock, uses_noted};

    #[test]
    fn only_the_first_use_of_each_kind_is_noted() {
        let (uses, before) = (Uses::default(), uses_noted());
        uses.note(UseKind::Thread, || "one".to_owned());
        uses.note(UseKind::Thread, || unreachable!("the kind is noted"));
        uses.note(UseKind::File, || "two".to_owned());
        let expected = [(UseKind::Thread, "one"), (UseKind::File, "two")];
        assert_eq!(uses.all(), expected.map(|(kind, by)| Use { kind, by: by.to_owned() }));
        assert!(uses.has(UseKind::File) && !uses.has(UseKind::Socket));
        assert!(uses_noted() >= before + 2, "other tests may note uses too");
    }

    #[test]
    fn noted_kinds_are_found_without_the_lock() {
        let uses = Uses::default();
        uses.note(UseKind::Signal, || "one".to_owned());
        let first = lock(&uses.first);
        assert!(uses.has(UseKind::Signal) && !uses.has(UseKind::Thread));
        uses.note(UseKind::Signal, || unreachable!("the kind is noted"));
        assert_eq!(first.len(), 1);
    }

    #[test]
    fn files_of_backtraces_are_not_files_of_the_author() {
        for (path, expected) in [
            ("/home/me/level.txt", true),
            ("/etc/hosts", true),
            ("/home/me/sounds.sox", true),
            ("/proc/1234/maps", false),
            ("/sys/fs/cgroup/cpu.max", false),
            ("/memfd:cache (deleted)", false),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", false),
            ("/tmp/stage/cube.3.so", false),
            ("/tmp/stage/cube.3.so (deleted)", false),
            ("/home/me/level.txt (deleted)", true),
            ("/tmp/stage/cube.3.so.debug", false),
            ("/usr/lib/debug/.build-id/ab/cd", false),
            ("/opt/game/bin/host", false),
        ] {
            assert_eq!(is_for_author(path, Some("/opt/game/bin/host")), expected, "{path}");
        }
    }
}
