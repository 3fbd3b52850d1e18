//! What is said of an unload: what it left when it is over, and what keeps it while it is not. Data and its printing.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bridge::tasks::JobCount;
use crate::lease::Blocker;
use crate::unload::blockers::ways_out;
use crate::unload::state::ContextState;

/// What a module whose image is gone had left behind, and what became of it. All of it is the host's work: a plugin
/// that ends what it begins leaves none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleEnd {
    /// The module.
    pub module: String,
    /// Destructors of thread-locals that ran on their own threads.
    pub thread_locals_run: u64,
    /// Threads that had ended and were never joined.
    pub threads_joined: u64,
    /// Threads that did not stop and were taken out of their system call, because the host allows that.
    pub threads_evicted: u64,
    /// Handlers for the end of the process, which ran now.
    pub exit_handlers: u64,
    /// Signal handlers that were taken out.
    pub signals: u64,
    /// Keys of thread-specific data that were deleted.
    pub keys: u64,
    /// Bytes of the module's own heap that were not freed: `forget`, `leak`, statics.
    pub leaked_heap_bytes: u64,
    /// Bytes that were taken from the C heap and not given back, and are freed.
    pub c_heap_bytes: u64,
    /// Blocks of the C heap that were not given back, and are freed.
    pub c_heap_blocks: u64,
    /// Bytes of the C heap that were not given back and stay, because they may belong to other code by now.
    #[serde(default)]
    pub c_heap_kept_bytes: u64,
    /// Blocks of the C heap that stay.
    #[serde(default)]
    pub c_heap_kept_blocks: u64,
    /// Why they stay; empty if none do.
    #[serde(default)]
    pub c_heap_kept_for: String,
    /// Unwind tables that were left with the unwinder, and were taken back.
    #[serde(default)]
    pub frames: u64,
    /// Addresses that led into the module from the environment or from variables of the C library (`putenv`, `stdout`), and
    /// lead elsewhere now.
    #[serde(default)]
    pub addresses: u64,
    /// Limits of the process that raise signals which the module has handled, and timers that it has set by bare system
    /// calls: each with what became of it, in words.
    #[serde(default)]
    pub put_back: Vec<String>,
    /// How often memory was looked through for what still leads into the module.
    #[serde(default)]
    pub looks: u64,
    /// How long that took in all.
    #[serde(default)]
    pub look_took: Duration,
    /// Bytes of memory maps that were not given back.
    pub maps_bytes: u64,
    /// Memory maps that stay and that the module's memory led to: it has made them past its hooks, by system calls of its
    /// own, or they are the host's. Which is unknown, so they are not given back.
    #[serde(default)]
    pub maps_unknown: u64,
    /// Bytes of those.
    #[serde(default)]
    pub maps_unknown_bytes: u64,
    /// Open file descriptors that the module left.
    pub fds_left: Vec<OpenFile>,
    /// File descriptors that were closed, because the host allows that.
    pub fds_closed: u64,
    /// Processes that the module had started and that were not waited for.
    pub children_left: Vec<UnwaitedProcess>,
    /// Such processes that had ended and were waited for, because the host has set that.
    pub children_reaped: u64,
}

/// A file descriptor that a module has opened and left open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFile {
    /// Its number.
    pub fd: i32,
    /// What it leads to, as the kernel says it: a path, `socket:[4711]`.
    pub leads_to: String,
}

/// A process that a module has started and that was not waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnwaitedProcess {
    /// Its number.
    pub pid: i32,
    /// Its name, and whether it has ended.
    pub is: String,
}

/// An image that stays mapped until the process ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedImage {
    /// The module.
    pub module: String,
    /// The file name of the private copy it was mapped from.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// An unload that came to its end: the images are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnloadReport {
    /// What was unloaded: `generation 3`, `Slim "reports"`.
    pub subject: String,
    /// What its modules had left behind.
    pub modules: Vec<ModuleEnd>,
    /// What went wrong on the way and stopped nothing: callbacks, exit hooks and finalizers that panicked, and resources
    /// that have no end.
    pub problems: Vec<String>,
    /// Tasks, timers and posted closures that had not ended, and were dropped. Slims have none.
    #[serde(default)]
    pub jobs: Vec<JobCount>,
    /// From the seal until the last image was gone.
    pub took: Duration,
}

/// An unload that has not come to its end, and what keeps it from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockerReport {
    /// What is to be unloaded: `generation 3`, `Slim "reports"`.
    pub subject: String,
    /// How far it has come.
    pub state: ContextState,
    /// How long ago the unload began.
    pub since: Duration,
    /// What keeps it, longest first.
    pub blockers: Vec<Blocker>,
    /// Images that stay mapped for good.
    pub parked: Vec<ParkedImage>,
    /// What went wrong on the way and stopped nothing.
    pub problems: Vec<String>,
    /// Tasks, timers and posted closures that had not ended, and were dropped. Slims have none.
    #[serde(default)]
    pub jobs: Vec<JobCount>,
}

/// An unload that takes no longer is not reported as blocked: a thread that ends takes some milliseconds.
const ORDINARY_UNLOAD: Duration = Duration::from_secs(1);

impl BlockerReport {
    /// Returns whether the unload has taken so long that its blockers are worth a warning.
    pub(crate) fn is_late(&self) -> bool {
        self.since >= ORDINARY_UNLOAD
    }
}

impl ParkedImage {
    /// The image as one line of a report.
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
        ways_out(&self.blockers).into_iter().try_for_each(|way| write!(f, "\n  {way}"))?;
        for image in &self.parked {
            write!(f, "\n  {}", image.line(&self.subject))?;
        }
        self.jobs.iter().try_for_each(|ended| write!(f, "\n  {ended}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl fmt::Display for UnloadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is gone after {:.1} ms", self.subject, self.took.as_secs_f64() * 1e3)?;
        for line in self.modules.iter().filter_map(ModuleEnd::line) {
            write!(f, "\n  {line}")?;
        }
        self.jobs.iter().try_for_each(|ended| write!(f, "\n  {ended}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

/// Bytes of heap that statics of a plugin and of its crates keep: lazily made values, registries of loggers.
const ORDINARY_HEAP: u64 = 64 << 10;

impl ModuleEnd {
    /// Lists what the module left, in one line. Returns none for a module without remains, or with those that any module has: memory of
    /// its statics, and destructors of its thread-locals.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let ordinary = Self {
            module: self.module.clone(),
            thread_locals_run: self.thread_locals_run,
            leaked_heap_bytes: self.leaked_heap_bytes.min(ORDINARY_HEAP),
            looks: self.looks,
            look_took: self.look_took,
            ..Self::default()
        };
        if *self == ordinary {
            return None;
        }
        let counted = [
            (self.thread_locals_run, "thread-local destructor", "run"),
            (self.threads_joined, "finished thread", "joined"),
            (self.threads_evicted, "thread", "evicted"),
            (self.exit_handlers, "exit handler", "run"),
            (self.signals, "signal handler", "taken out"),
            (self.keys, "thread key", "deleted"),
            (self.c_heap_blocks, "C heap block", "freed"),
            (self.fds_closed, "file descriptor", "closed"),
            (self.frames, "unwind table", "taken back"),
            (self.addresses, "address in variables of the C library", "led elsewhere"),
            (self.children_reaped, "ended process", "waited for"),
        ];
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let mut words: Vec<_> = counted
            .into_iter()
            .filter(|(count, ..)| *count != 0)
            .map(|(count, what, done)| format!("{count} {what}{} {done}", plural(count)))
            .collect();
        if self.c_heap_kept_blocks != 0 {
            let (count, bytes) = (self.c_heap_kept_blocks, size(self.c_heap_kept_bytes));
            words.push(format!("{count} C heap block{} kept ({bytes}): {}", plural(count), self.c_heap_kept_for));
        }
        let sizes = [(self.leaked_heap_bytes, "heap"), (self.maps_bytes, "memory maps")];
        let sizes = sizes.into_iter().filter(|(bytes, _)| *bytes != 0);
        words.extend(sizes.map(|(bytes, what)| format!("{} of {what} taken back", size(bytes))));
        if self.maps_unknown != 0 {
            let (count, bytes) = (self.maps_unknown, size(self.maps_unknown_bytes));
            words.push(format!("{count} memory map{} that no hook saw left ({bytes})", plural(count)));
        }
        words.extend(self.put_back.iter().cloned());
        words.extend(self.fds_left.iter().map(|OpenFile { fd, leads_to }| format!("fd {fd} left open ({leads_to})")));
        words.extend(
            self.children_left.iter().map(|UnwaitedProcess { pid, is }| format!("process {pid} not waited for ({is})")),
        );
        (!words.is_empty()).then(|| format!("{} left {}", self.module, words.join(" · ")))
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
    fn what_a_module_left_is_one_line_and_nothing_is_no_line() {
        let mut end = ModuleEnd { module: "m".into(), ..ModuleEnd::default() };
        assert_eq!(end.line(), None);
        (end.leaked_heap_bytes, end.thread_locals_run) = (1100, 1);
        assert_eq!(end.line(), None, "any module leaves that");
        (end.threads_joined, end.thread_locals_run, end.leaked_heap_bytes) = (1, 2, 3 << 20);
        end.fds_left.push(OpenFile { fd: 7, leads_to: "socket:[1]".into() });
        expect!["m left 2 thread-local destructors run · 1 finished thread joined · 3.0 MiB of heap taken back · fd 7 left open (socket:[1])"]
        .assert_eq(&end.line().expect("it left something"));
    }
}
