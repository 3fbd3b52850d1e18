//! Log of one test world. Contains the plugins' log records from all threads, and the host's log records of level INFO or above.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Message of a `tracing` event that forwards a log record of a plugin module.
const OF_PLUGIN: &str = "plugin event";

/// A line of a [`Log`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogLine {
    /// Level of the line.
    pub level: Level,
    /// Module path of the log statement, or the target that the statement specifies.
    pub target: String,
    /// Name and generation of the module that logged the line. `None` if the host logged the line.
    pub module: Option<(String, u64)>,
    /// Message of the log statement, followed by the remaining fields of the statement.
    pub message: String,
    /// True if the line reports that plugin code failed during a call by the host.
    is_failure: bool,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:5} {}: {}", self.level, self.target, self.message)
    }
}

/// Log lines since the creation of a world, oldest first. See [`TestWorld::log`](super::TestWorld::log).
///
/// # Examples
/// ```no_run
/// use alcedo::testing::Level;
///
/// let world = alcedo::test_world!();
/// let log = world.log();
/// assert!(log.contains("game module started"));
/// assert!(log.lines().iter().all(|line| line.level > Level::WARN), "{log}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<LogLine>);

impl Log {
    /// Returns the lines.
    #[must_use]
    pub fn lines(&self) -> &[LogLine] {
        &self.0
    }

    /// Returns `true` if the message of a line contains `text`.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        self.0.iter().any(|line| line.message.contains(text))
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Subscriber that collects the log lines of one world. Clones share the lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    lines: Arc<Mutex<Vec<LogLine>>>,
    spans: Arc<AtomicU64>,
}

impl Recorder {
    pub(super) fn log(&self) -> Log {
        Log(self.lines().clone())
    }

    pub(super) fn count(&self) -> usize {
        self.lines().len()
    }

    /// Returns the messages of all failures after the first `count` lines, one message per line.
    pub(super) fn failures_after(&self, count: usize) -> String {
        let lines = self.lines();
        let failures = lines.iter().skip(count).filter(|line| line.is_failure);
        failures.map(|line| line.message.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn lines(&self) -> MutexGuard<'_, Vec<LogLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && (metadata.name() == OF_PLUGIN || *metadata.level() <= Level::INFO)
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let (level, target) = (*metadata.level(), metadata.target().to_owned());
        let is_of_plugin = metadata.name() == OF_PLUGIN;
        let mut fields = Fields { module: is_of_plugin.then(Default::default), ..Fields::default() };
        event.record(&mut fields);
        let line = LogLine {
            level,
            module: fields.module,
            message: fields.message + &fields.others,
            is_failure: !is_of_plugin && is_failure(level, &target),
            target,
        };
        self.lines().push(line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Returns `true` if a line reports a failure of plugin code. Failures are logged as errors, or as warnings by `Objects::log_failure`.
fn is_failure(level: Level, target: &str) -> bool {
    let is_of_runtime = target.starts_with("alcedo");
    is_of_runtime && (level == Level::ERROR || (level == Level::WARN && target.ends_with("::failures")))
}

#[derive(Default)]
struct Fields {
    message: String,
    /// Name and generation of the plugin module. The runtime adds both to each event of a plugin. `None` for an event of the host.
    module: Option<(String, u64)>,
    others: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match &mut self.module {
            Some((module, _)) if field.name() == "module" => value.clone_into(module),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match &mut self.module {
            Some((_, generation)) if field.name() == "generation" => *generation = value,
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.others += &format!("  {name}={value:?}"),
        }
    }
}
