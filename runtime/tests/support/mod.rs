//! Contains the shared parts of all tests with real plugins: builds of the example plugins, a host, and a record of the log.
#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod alone;
mod builds;
pub(crate) mod elf;
pub(crate) mod flags;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use alcedo_glue::{Glue, Origin};
use alcedo_runtime::native::Natives;
use alcedo_runtime::{Budget, Builder, Runtime, Value};
use expect_test::expect_file;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

#[allow(unused_imports, reason = "each test file uses its own part of these")]
pub(crate) use builds::{build, folder, line_of, plugin, request, tagged, test_dir, with_switches, workspace};

/// True if each call slot of this host stores the type of its value. The workspace `runtime/tests/bare-slots` runs some of these
/// tests with slots that store no type.
pub(crate) const SLOT_TYPES: bool = cfg!(feature = "slot-types");

/// Returns a builder with the packages and native classes of the example plugins. The grace period is long, because a busy machine may
/// delay the finalizer thread.
pub(crate) fn builder() -> Builder {
    let builder = Runtime::builder().package("Game").package("Attributes").package("Broken");
    builder.natives(alcedo_engine::natives()).unloads(|policy| policy.grace = Duration::from_secs(30))
}

/// Checks that a file of an example plugin contains the glue for the declarations in `package`. `UPDATE_EXPECT=1` writes the file.
pub(crate) fn glue_is_written(natives: Natives, package: &str, plugin: &str, file: &str) {
    let declared = Runtime::builder().natives(natives).declared().unwrap_or_else(|error| panic!("{error}"));
    let glue = Glue::default().only(package);
    let text = glue.for_plugins(&Origin::host("a test"), &declared).unwrap_or_else(|error| panic!("{error}"));
    expect_file![folder(plugin).join("src").join(file)].assert_eq(&text);
}

/// Returns a builder for tests that expect a blocked generation.
pub(crate) fn hasty_builder() -> Builder {
    builder().unloads(|policy| policy.grace = Duration::from_millis(500))
}

pub(crate) fn host(libraries: &[PathBuf]) -> Runtime {
    host_of(builder(), libraries)
}

/// Returns a host with a Master of these libraries. In this host, a generation that cannot end becomes blocked quickly.
pub(crate) fn hasty_host(libraries: &[PathBuf]) -> Runtime {
    host_of(hasty_builder(), libraries)
}

/// Returns a host with a Master of these modules.
pub(crate) fn host_of(builder: Builder, modules: &[PathBuf]) -> Runtime {
    let runtime = builder.build().unwrap_or_else(|error| panic!("{error}"));
    runtime.create_master(modules).unwrap_or_else(|error| panic!("{error}"));
    runtime
}

/// Returns the number of the running build of `magic_cube`.
pub(crate) fn tag(host: &Runtime) -> u64 {
    match host.calls().call("nm:/magic_cube:MagicCube:build_tag", &[]) {
        Ok(Some(Value::U64(tag))) => tag,
        other => panic!("the module does not answer: {other:?}"),
    }
}

/// Ticks until the build of `magic_cube` with this number is loaded.
pub(crate) fn wait_for_build(host: &Runtime, number: u64) {
    until(&format!("build {number} is loaded"), || {
        host.tick(Budget::frame());
        tag(host) == number
    });
}

/// Returns the name that a test has in the harness. `module` is the `module_path!()` of the file.
pub(crate) fn full_name(module: &str, test: &str) -> String {
    module.split_once("::").map_or(test.to_owned(), |(_, file)| format!("{file}::{test}"))
}

/// Returns true if `ALCEDO_COMPILERS` is set, as in a job of `.ci/run`. Otherwise prints that the test is skipped, because tests with other
/// compilers rebuild everything.
pub(crate) fn uses_other_compilers(test: &str) -> bool {
    let does = std::env::var_os("ALCEDO_COMPILERS").is_some();
    if !does {
        skip(test, "another compiler takes minutes; ALCEDO_COMPILERS=1 runs it");
    }
    does
}

/// Prints that a test was skipped. Bypasses the harness, which prints the output of failed tests only.
pub(crate) fn skip(test: &str, reason: &str) {
    writeln!(std::io::stderr(), "skipped: {test}: {reason}").expect("there is an error stream");
}

/// Waits until `is_so` returns true. The timeout is long enough for shared machines.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    until_or(is_so, || what.to_owned());
}

/// Waits like [`until`]. After the timeout, `what` returns the failure message, which may describe the current state.
pub(crate) fn until_or(is_so: impl Fn() -> bool, what: impl Fn() -> String) {
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "in vain: {}", what());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Log lines for one target, from any thread, since the start of the record. Tests that hold a record run one at a time.
pub(crate) struct Record {
    target: &'static str,
    _alone: MutexGuard<'static, ()>,
}

static LINES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Target of the log events at which the recorder panics; see [`Record::fail`].
static FAILS_AT: Mutex<Option<&str>> = Mutex::new(None);

/// Begins a record of the log events whose target is `target`.
pub(crate) fn record(target: &'static str) -> Record {
    static ALONE: Mutex<()> = Mutex::new(());
    static SUBSCRIBED: OnceLock<()> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    SUBSCRIBED.get_or_init(|| {
        let subscriber = tracing_subscriber::registry().with(Recorder);
        tracing::subscriber::set_global_default(subscriber).expect("no other subscriber in this process");
    });
    lines().clear();
    Record { target, _alone: alone }
}

impl Record {
    pub(crate) fn note(&self, line: impl Into<String>) {
        lines().push((self.target.to_owned(), line.into()));
    }

    /// Returns the lines recorded so far and clears the record.
    pub(crate) fn take(&self) -> String {
        let lines = std::mem::take(&mut *lines());
        let ours = lines.into_iter().filter(|(target, _)| target == self.target);
        ours.map(|(_, line)| line + "\n").collect()
    }

    /// Lets the recorder panic at each later event of this target, until the record is dropped.
    pub(crate) fn fail(&self) {
        *FAILS_AT.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.target);
    }

    /// Adds a line to the record, for listeners that do not own the [`Record`].
    pub(crate) fn line(target: &str, line: String) {
        lines().push((target.to_owned(), line));
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        *FAILS_AT.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn lines() -> MutexGuard<'static, Vec<(String, String)>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Recorder;

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut message = Message::default();
        event.record(&mut message);
        let target = event.metadata().target();
        lines().push((target.to_owned(), message.0 + &message.1));
        let fails_at = *FAILS_AT.lock().unwrap_or_else(PoisonError::into_inner);
        assert_ne!(fails_at, Some(target), "the subscriber fails on purpose");
    }
}

/// Message of a log event, followed by the other fields of the event. Omits the fields for module and generation.
#[derive(Default)]
struct Message(String, String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        match field.name() {
            "message" => self.0 = format!("{value:?}"),
            "module" | "generation" => {}
            name => self.1 += &format!("  {name}={value:?}"),
        }
    }
}
