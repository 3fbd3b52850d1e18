//! What all tests with real plugins share: builds of the example plugins, a host, and a record of what was logged.
#![expect(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod elf;
pub(crate) mod flags;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use alcedo_build::{BuildRequest, Variants};
use alcedo_runtime::{Builder, Runtime};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The workspace of the example plugins.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../example-plugins")
}

/// Where builds for tests go: beside the host's own, so that `cargo clean` finds them.
pub(crate) fn test_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned()
}

/// Plugins are built as the test is: a release test loads release plugins.
const RELEASE: bool = !cfg!(debug_assertions);

/// A build request for an example plugin.
pub(crate) fn request<'a>(package: &'a str, features: &[&str]) -> BuildRequest<'a> {
    static MANIFEST: OnceLock<PathBuf> = OnceLock::new();
    let manifest = MANIFEST.get_or_init(|| examples().join("Cargo.toml"));
    let request = BuildRequest::new(manifest).package(package);
    let request = request.target_dir(test_dir().join("plugins")).release(RELEASE);
    features.iter().fold(request, |request, feature| request.feature(*feature))
}

/// The library of an example plugin, built with some features. Built once for all tests.
pub(crate) fn plugin(package: &str, features: &[&str]) -> PathBuf {
    let label = std::iter::once(package).chain(features.iter().copied()).collect::<Vec<_>>().join("+");
    build(&request(package, features), &label)
}

/// The library of an example plugin that answers `tag` when it is asked which build it is.
pub(crate) fn tagged(package: &str, features: &[&str], tag: u64) -> PathBuf {
    let request = request(package, features).env("ALCEDO_BUILD_TAG", tag.to_string());
    build(&request, &format!("{package}-{tag}{}", features.join("+")))
}

/// Where the source of an example plugin has a text, as a panic there names the line: `broken/src/lib.rs:40`.
pub(crate) fn line_of(package: &str, text: &str) -> String {
    let source = std::fs::read_to_string(examples().join(package).join("src/lib.rs")).expect("the plugin has a lib.rs");
    let line = source.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{package} has no {text}"));
    format!("{package}/src/lib.rs:{}", line + 1)
}

/// Builds under a label of its own, once in this process.
pub(crate) fn build(request: &BuildRequest<'_>, label: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = if RELEASE { "variants-release" } else { "variants" };
    let build = || Variants::new(test_dir().join(folder)).get(request, label);
    let library = built.entry(label.to_owned()).or_insert_with(|| build().unwrap_or_else(|error| panic!("{error}")));
    library.clone()
}

/// A builder with the packages and native classes that the example plugins need. On a busy machine a finalizer thread
/// may have to wait for its turn; a test that wants the end of a generation waits for it, however long that takes.
pub(crate) fn builder() -> Builder {
    let builder = Runtime::builder().package("Game").package("Attributes").package("Broken");
    builder.natives(alcedo_engine::natives()).unloads(|policy| policy.grace = Duration::from_secs(30))
}

/// A host with a Master of these libraries.
pub(crate) fn host(libraries: &[PathBuf]) -> Runtime {
    let runtime = builder().build().unwrap_or_else(|error| panic!("{error}"));
    runtime.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
    runtime
}

/// Waits until `is_so`, for as long as a shared machine may take.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What was logged under one target since the record began, from any thread. Tests that use it run one at a time.
pub(crate) struct Record {
    target: &'static str,
    _alone: MutexGuard<'static, ()>,
}

static LINES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Begins a record of the events of `target`.
pub(crate) fn record(target: &'static str) -> Record {
    static ALONE: Mutex<()> = Mutex::new(());
    static SUBSCRIBED: OnceLock<()> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    SUBSCRIBED.get_or_init(|| {
        let subscriber = tracing_subscriber::registry().with(Recorder);
        tracing::subscriber::set_global_default(subscriber).expect("nobody else subscribes in this process");
    });
    lines().clear();
    Record { target, _alone: alone }
}

impl Record {
    /// Adds a line of the test's own.
    pub(crate) fn note(&self, line: impl Into<String>) {
        lines().push((self.target.to_owned(), line.into()));
    }

    /// The lines so far, and an empty record from now on.
    pub(crate) fn take(&self) -> String {
        let lines = std::mem::take(&mut *lines());
        let ours = lines.into_iter().filter(|(target, _)| target == self.target);
        ours.map(|(_, line)| line + "\n").collect()
    }

    /// Adds a line while the record itself is elsewhere: for listeners.
    pub(crate) fn line(target: &str, line: String) {
        lines().push((target.to_owned(), line));
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
        lines().push((event.metadata().target().to_owned(), message.0 + &message.1));
    }
}

/// The message, and behind it what else the statement says. Which module and generation it is of is left out.
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
