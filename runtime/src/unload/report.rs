//! Reports of completed and of blocked unloads, and their formatting.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use alcedo_base::figures::counted;
use serde::{Deserialize, Serialize};

use crate::bridge::tasks::JobCount;
use crate::lease::Blocker;
use crate::unload::blockers::hints;
use crate::unload::state::ContextState;

/// Resources that a module had not released before its unload, with the resources that the host has then released or kept.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::ModuleEnd;
///
/// let mut end = ModuleEnd::default();
/// assert_eq!(end.line(), None);
/// end.fds_closed = 1;
/// assert!(end.line().is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModuleEnd {
    /// Name of the module.
    pub module: String,
    /// Number of thread-local destructors that the host ran. Each destructor ran on the thread that owned the thread-local.
    pub thread_locals_run: u64,
    /// Number of ended threads that the host joined because the module did not.
    pub threads_joined: u64,
    /// Number of threads that were evicted from a system call, if the host allows evictions.
    pub threads_evicted: u64,
    /// Number of process exit handlers of the module that the host ran during the unload.
    pub exit_handlers: u64,
    /// Number of removed signal handlers.
    pub signals: u64,
    /// Number of deleted keys of thread-specific data.
    pub keys: u64,
    /// Bytes on the module's own heap that the module did not free, for example because of `forget`, `leak` or statics.
    pub leaked_heap_bytes: u64,
    /// Bytes in C heap blocks that the host freed.
    pub c_heap_bytes: u64,
    /// Number of C heap blocks that the host freed.
    pub c_heap_blocks: u64,
    /// Bytes in C heap blocks that the host did not free, because a library may own the blocks.
    #[serde(default)]
    pub c_heap_kept_bytes: u64,
    /// Number of C heap blocks that the host did not free.
    #[serde(default)]
    pub c_heap_kept_blocks: u64,
    /// Reason why the host did not free some C heap blocks. Empty if the host freed all of these blocks.
    #[serde(default)]
    pub c_heap_kept_for: String,
    /// Number of unwind tables that were deregistered from the unwinder.
    #[serde(default)]
    pub frames: u64,
    /// Number of pointers into the module that the host has replaced. The pointers were stored in the environment (`putenv`), or in
    /// variables of the C library such as `stdout`.
    #[serde(default)]
    pub addresses: u64,
    /// Process limits whose signals the module handled, and timers that the module set by direct system calls. Each entry states how the
    /// host has reset the limit or the timer.
    #[serde(default)]
    pub put_back: Vec<String>,
    /// Number of memory scans for references to the module.
    #[serde(default, rename = "looks")]
    pub searches: u64,
    /// Total time of the memory scans.
    #[serde(default, rename = "look_took")]
    pub search_time: Duration,
    /// Bytes in memory maps that the host released.
    pub maps_bytes: u64,
    /// Number of memory maps that are kept because their owner is unknown. Either the host created the map, or the module created the map
    /// by a direct system call.
    #[serde(default)]
    pub maps_unknown: u64,
    /// Bytes in memory maps that are kept because their owner is unknown.
    #[serde(default)]
    pub maps_unknown_bytes: u64,
    /// File descriptors that the module left open.
    pub fds_left: Vec<OpenFile>,
    /// Number of file descriptors that the host closed. Nonzero only with `UnloadPolicy::close_fds`.
    pub fds_closed: u64,
    /// Child processes that the module started and did not wait for.
    pub children_left: Vec<UnwaitedProcess>,
    /// Number of ended child processes that the host reaped. Nonzero only with
    /// [`UnloadPolicy::reap_children`](crate::UnloadPolicy::reap_children).
    pub children_reaped: u64,
}

/// File descriptor that was open at the unload of a module.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::UnloadReport;
///
/// fn print_files(report: &UnloadReport) {
///     for file in report.modules.iter().flat_map(|module| &module.fds_left) {
///         println!("descriptor {} of {} is open", file.fd, file.target);
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFile {
    /// Number of the descriptor.
    pub fd: i32,
    /// Target of the descriptor as named by the kernel, such as a path or `socket:[4711]`.
    #[serde(rename = "leads_to")]
    pub target: String,
}

/// Child process that a module started and did not wait for.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::UnloadReport;
///
/// fn children(report: &UnloadReport) -> Vec<i32> {
///     report.modules.iter().flat_map(|module| &module.children_left).map(|child| child.pid).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnwaitedProcess {
    /// Process id.
    pub pid: i32,
    /// Name and state of the process.
    pub is: String,
}

/// Image that stays mapped until the process exits.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::BlockerReport;
///
/// fn parked_files(report: &BlockerReport) -> Vec<&str> {
///     report.parked.iter().map(|image| image.file.as_str()).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedImage {
    /// Name of the module.
    pub module: String,
    /// File name of the private copy that was mapped.
    pub file: String,
    /// Reason why the image stays mapped.
    pub reason: String,
}

/// Report of a completed unload. All images of the subject are unmapped.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::UnloadReport;
///
/// fn check(report: &UnloadReport) {
///     println!("{} took {:?}", report.subject, report.duration);
///     for module in &report.modules {
///         if !module.fds_left.is_empty() {
///             println!("{} left {} files open", module.module, module.fds_left.len());
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnloadReport {
    /// Subject of the unload, such as `generation 3` or `Slim "reports"`.
    pub subject: String,
    /// Resources that each module has not released itself.
    pub modules: Vec<ModuleEnd>,
    /// Non-fatal problems, such as panics of callbacks, exit hooks and finalizers. Also contains resources that cannot be released.
    pub problems: Vec<String>,
    /// Counts of dropped tasks, timers and posted closures. Empty for Slims.
    #[serde(default)]
    pub jobs: Vec<JobCount>,
    /// Time from sealing the modules to unmapping the last image.
    #[serde(rename = "took")]
    pub duration: Duration,
}

/// Report of an unload in progress, with its blockers.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::BlockerReport;
///
/// fn explain(report: &BlockerReport) {
///     println!("{} is {} for {:?}", report.subject, report.state, report.since);
///     for blocker in &report.blockers {
///         println!("  {} {} on thread {}", blocker.kind, blocker.owner, blocker.thread);
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockerReport {
    /// Subject of the unload, such as `generation 3` or `Slim "reports"`.
    pub subject: String,
    /// State of the unload.
    pub state: ContextState,
    /// Time since the unload began.
    pub since: Duration,
    /// Blockers. The oldest blocker is listed first.
    pub blockers: Vec<Blocker>,
    /// Images that stay mapped permanently.
    pub parked: Vec<ParkedImage>,
    /// Non-fatal problems.
    pub problems: Vec<String>,
    /// Counts of dropped tasks, timers and posted closures. Empty for Slims.
    #[serde(default)]
    pub jobs: Vec<JobCount>,
}

/// Age at which a blocked unload is logged. Shorter delays are normal, because a thread needs some milliseconds to exit.
const ORDINARY_UNLOAD: Duration = Duration::from_secs(1);

impl BlockerReport {
    /// Checks if the blockers must be logged as a warning. The unload must be blocked and at least one second old. While finalizers make
    /// progress, an unload does not count as blocked.
    pub(crate) fn is_late(&self) -> bool {
        self.state == ContextState::Blocked && self.since >= ORDINARY_UNLOAD
    }
}

impl ParkedImage {
    /// Creates the entry of an image that was mapped from the copy at `path`.
    pub(crate) fn new(module: &str, path: &Path, reason: String) -> Self {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { module: module.to_owned(), file, reason }
    }

    pub(crate) fn line(&self, subject: &str) -> String {
        format!("{} of {subject} stays mapped ({}): {}", self.module, self.file, self.reason)
    }
}

impl fmt::Display for BlockerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} ({})", self.subject, self.state, seconds(self.since))?;
        let mut groups: Vec<(usize, &Blocker)> = Vec::new();
        for blocker in &self.blockers {
            match groups.iter_mut().find(|(_, first)| (first.kind, &first.owner) == (blocker.kind, &blocker.owner)) {
                Some((count, _)) => *count += 1,
                None => groups.push((1, blocker)),
            }
        }
        let heads: Vec<_> =
            groups.iter().map(|(count, first)| format!("{count} {}", first.kind.counted(*count))).collect();
        let width = heads.iter().map(|head| head.chars().count()).max().unwrap_or_default();
        for (head, (_, first)) in heads.iter().zip(&groups) {
            write!(f, "\n  {head:<width$}   {}", first.tail())?;
        }
        hints(&self.blockers).into_iter().try_for_each(|hint| write!(f, "\n  {hint}"))?;
        for image in &self.parked {
            write!(f, "\n  {}", image.line(&self.subject))?;
        }
        self.jobs.iter().try_for_each(|ended| write!(f, "\n  {ended}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl fmt::Display for UnloadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is gone after {:.1} ms", self.subject, self.duration.as_secs_f64() * 1e3)?;
        for line in self.modules.iter().filter_map(ModuleEnd::line) {
            write!(f, "\n  {line}")?;
        }
        self.jobs.iter().try_for_each(|ended| write!(f, "\n  {ended}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

/// Usual maximum of the heap bytes that statics of a plugin and its crates keep, such as lazy values and logger registries.
const ORDINARY_HEAP: u64 = 64 << 10;

impl ModuleEnd {
    /// Formats the resources that the module left, as one line. Returns `None` if the module left only thread-local destructors and a usual
    /// number of heap bytes.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let ordinary = Self {
            module: self.module.clone(),
            thread_locals_run: self.thread_locals_run,
            leaked_heap_bytes: self.leaked_heap_bytes.min(ORDINARY_HEAP),
            searches: self.searches,
            search_time: self.search_time,
            ..Self::default()
        };
        if *self == ordinary {
            return None;
        }
        let counts = [
            (self.thread_locals_run, "thread-local destructor", "run"),
            (self.threads_joined, "finished thread", "joined"),
            (self.threads_evicted, "thread", "evicted"),
            (self.exit_handlers, "exit handler", "run"),
            (self.signals, "signal handler", "taken out"),
            (self.keys, "thread key", "deleted"),
            (self.c_heap_blocks, "C heap block", "freed"),
            (self.fds_closed, "file descriptor", "closed"),
            (self.frames, "unwind table", "taken back"),
            (self.addresses, "pointer", "in variables of the C library replaced"),
            (self.children_reaped, "zombie", "reaped"),
        ];
        let mut words: Vec<_> = counts
            .into_iter()
            .filter(|(count, ..)| *count != 0)
            .map(|(count, what, done)| format!("{} {done}", counted(count, what)))
            .collect();
        let sizes = [(self.leaked_heap_bytes, "heap"), (self.maps_bytes, "memory maps")];
        let sizes = sizes.into_iter().filter(|(bytes, _)| *bytes != 0);
        words.extend(sizes.map(|(bytes, what)| format!("{} of {what} taken back", size(bytes))));
        words.extend(self.put_back.iter().cloned());
        words.extend(self.unreleased());
        self.sentence(&words)
    }

    /// Formats the resources that the host could not release, as one line. These resources are leaks of the module. Returns `None`
    /// if the host released all resources.
    #[must_use]
    pub fn leaks(&self) -> Option<String> {
        self.sentence(&self.unreleased())
    }

    fn sentence(&self, words: &[String]) -> Option<String> {
        (!words.is_empty()).then(|| format!("{} left {}", self.module, words.join(" · ")))
    }

    fn unreleased(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.c_heap_kept_blocks != 0 {
            let (blocks, bytes) = (counted(self.c_heap_kept_blocks, "C heap block"), size(self.c_heap_kept_bytes));
            words.push(format!("{blocks} kept ({bytes}): {}", self.c_heap_kept_for));
        }
        if self.maps_unknown != 0 {
            let (maps, bytes) = (counted(self.maps_unknown, "untracked memory map"), size(self.maps_unknown_bytes));
            words.push(format!("{maps} left ({bytes})"));
        }
        words.extend(self.fds_left.iter().map(|OpenFile { fd, target }| format!("fd {fd} left open ({target})")));
        words.extend(
            self.children_left.iter().map(|UnwaitedProcess { pid, is }| format!("process {pid} not waited for ({is})")),
        );
        words
    }
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        whole => format!("{whole} s"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::{BlockerReport, ModuleEnd, OpenFile};
    use crate::bridge::tasks::JobCount;
    use crate::lease::{Blocker, LeaseKind};
    use crate::unload::state::ContextState;

    #[test]
    fn a_blocker_report_reads_as_a_few_lines() {
        let blocker = |kind, owner: &str, thread: &str, age, place: Option<&str>| Blocker {
            kind,
            owner: owner.into(),
            thread: thread.into(),
            age: Duration::from_millis(age),
            place: place.map(str::to_owned),
        };
        let report = BlockerReport {
            subject: "Slim \"reports\"".into(),
            state: ContextState::Blocked,
            since: Duration::from_secs(12),
            blockers: vec![
                blocker(LeaseKind::Call, "nm:/reports:Report:render", "worker-3", 11_800, Some("src/jobs.rs:88")),
                blocker(LeaseKind::Thread, "\"exporter\"", "exporter", 11_900, None),
                blocker(LeaseKind::Call, "nm:/reports:Report:render", "worker-4", 11_700, Some("src/jobs.rs:88")),
            ],
            parked: Vec::new(),
            problems: vec!["an unloading callback of priority 3 panicked: \"no\"".into()],
            jobs: vec![JobCount {
                kind: LeaseKind::Timer,
                module: "reports".into(),
                place: "src/lib.rs:7".into(),
                count: 2,
            }],
        };
        expect![[r#"
            Slim "reports" is blocked (12 s)
              2 running calls   nm:/reports:Report:render   thread worker-3, 11.8 s, from src/jobs.rs:88
              1 thread          "exporter"   thread exporter, 11.9 s
              2 timers of reports cut short, from src/lib.rs:7
              an unloading callback of priority 3 panicked: "no""#]]
        .assert_eq(&report.to_string());
    }

    #[test]
    fn leftovers_of_a_module_are_one_line_or_none() {
        let mut end = ModuleEnd { module: "m".into(), ..ModuleEnd::default() };
        assert_eq!(end.line(), None);
        (end.leaked_heap_bytes, end.thread_locals_run) = (1100, 1);
        assert_eq!(end.line(), None, "any module leaves that");
        (end.threads_joined, end.thread_locals_run, end.leaked_heap_bytes) = (1, 2, 3 << 20);
        end.fds_left.push(OpenFile { fd: 7, target: "socket:[1]".into() });
        expect!["m left 2 thread-local destructors run · 1 finished thread joined · 3.0 MiB of heap taken back · fd 7 left open (socket:[1])"]
        .assert_eq(&end.line().expect("it left something"));
        expect!["m left fd 7 left open (socket:[1])"].assert_eq(&end.leaks().expect("a descriptor is open"));
        end.fds_left.clear();
        assert_eq!(end.leaks(), None, "the host has released the rest");
        let end = ModuleEnd { module: "m".into(), addresses: 2, children_reaped: 2, ..ModuleEnd::default() };
        expect!["m left 2 pointers in variables of the C library replaced · 2 zombies reaped"]
            .assert_eq(&end.line().expect("it left something"));
    }
}
