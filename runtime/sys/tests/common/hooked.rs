//! Provides a handwritten C module, which is mapped with a ledger and calls the hooks through a plain table. Tests that use this module
//! check the host's behavior without the support code of a Rust plugin.

#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::{c_int, c_long, c_void};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicI64};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use alcedo_sys::{EndPolicy, EndState, Ending, Image, ImageFile, Ledger, ReferenceSearch, StageDir, hooks};
use tempfile::TempDir;

use super::run;

const SOURCE: &str = include_str!("module.c");

/// Policy that ends an image without a search for references.
pub(crate) const AT_ONCE: EndPolicy = EndPolicy {
    close_fds: false,
    free_c_heap: true,
    search: ReferenceSearch::Never,
    evict: None,
    reap_children: false,
    live_heap: None,
};

/// Table of the hooks that the module calls, in the order in which `module.c` declares them.
#[repr(C)]
struct Table(
    unsafe extern "C" fn(*const c_void, hooks::Destructor, *mut c_void, *mut c_void) -> c_int,
    unsafe extern "C" fn(*const c_void, *mut u32, Option<hooks::Destructor>) -> c_int,
    unsafe extern "C" fn(*const c_void, u32) -> c_int,
    unsafe extern "C" fn(*const c_void, u32, *const c_void) -> c_int,
    unsafe extern "C" fn(*const c_void, *mut usize, *const c_void, hooks::ThreadStart, *mut c_void) -> c_int,
    unsafe extern "C" fn(*const c_void, usize, *mut *mut c_void) -> c_int,
    unsafe extern "C" fn(*const c_void, usize) -> c_int,
    unsafe extern "C" fn(*const c_void, c_int, *const c_void, *mut c_void) -> c_int,
    unsafe extern "C" fn(*const c_void, c_int, usize) -> usize,
    unsafe extern "C" fn(*const c_void, hooks::Destructor, *mut c_void, *mut c_void) -> c_int,
    unsafe extern "C" fn(*const c_void, hooks::OnExit, *mut c_void) -> c_int,
);

static TABLE: Table = Table(
    hooks::thread_atexit,
    hooks::key_create,
    hooks::key_delete,
    hooks::key_set,
    hooks::thread_create,
    hooks::thread_join,
    hooks::thread_detach,
    hooks::signal_action,
    hooks::signal,
    hooks::at_exit,
    hooks::on_exit,
);

/// Record to which the module's code writes its progress. Outlives every module.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) run: AtomicI64,
    pub(crate) wrong_thread: AtomicI64,
    pub(crate) order: AtomicI64,
    pub(crate) go: AtomicI32,
    pub(crate) arrived: AtomicI32,
    pub(crate) fd: i32,
    pub(crate) mode: i32,
    pub(crate) host: Option<extern "C" fn(c_int)>,
}

/// Kind of wait in which a thread of the module blocks.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    UntilGo,
    AtOnce,
    ByExit,
    InRead,
    InFutex,
    InSpin,
    InSleep,
    InCond,
    InHost,
    InFile,
    InSem,
    InTimedSem,
    InBlocked,
}

impl Seen {
    /// Creates a record and leaks it, because threads that never end may access the record until the process ends.
    pub(crate) fn new(mode: Mode, fd: i32) -> &'static Self {
        Box::leak(Box::new(Self { mode: mode as i32, fd, ..Self::default() }))
    }

    /// Creates a record for [`Mode::InHost`], with the function of the host that blocks the thread.
    pub(crate) fn with_host(host: extern "C" fn(c_int), fd: i32) -> &'static Self {
        Box::leak(Box::new(Self { mode: Mode::InHost as i32, fd, host: Some(host), ..Self::default() }))
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }
}

/// File of the C module. A test can map the file repeatedly.
pub(crate) struct Library {
    file: ImageFile,
    stage: StageDir,
}

/// Bytes of the library, which is built once for all tests of a process.
static LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let dir = TempDir::new().expect("a temporary directory");
    let (source, library): (PathBuf, _) = (dir.path().join("module.c"), dir.path().join("libmodule.so"));
    fs::write(&source, SOURCE).expect("the test directory is writable");
    let mut gcc = Command::new("gcc");
    run(gcc.args(["-shared", "-fPIC", "-O1", "-pthread", "-Wall", "-Werror", "-o"]).arg(&library).arg(&source));
    fs::read(&library).expect("just built")
});

impl Library {
    pub(crate) fn new() -> Self {
        let name = PathBuf::from("libmodule.so");
        let file = ImageFile::from_bytes(&name, LIBRARY.clone()).expect("just built");
        Self { file, stage: StageDir::new().expect("a stage directory") }
    }

    pub(crate) fn stage(&self) -> &StageDir {
        &self.stage
    }

    pub(crate) fn map(&self) -> Module {
        let staged = self.stage.stage(&self.file, "module").expect("the copy can be written");
        let ledger = Ledger::new("module");
        // SAFETY: the library is `module.c`, which has no initializers.
        let image = unsafe { Image::map(staged, Some(Arc::clone(&ledger))) }.expect("the loader accepts it");
        let module = Module { image, ledger };
        let attach: extern "C" fn(&Table, *const c_void) = module.function(c"attach");
        attach(&TABLE, module.ledger.word());
        module
    }
}

pub(crate) struct Module {
    pub(crate) image: Image,
    pub(crate) ledger: Arc<Ledger>,
}

impl Module {
    /// Finds a function of the module. The caller must state the type that `module.c` declares, because the type is not checked.
    pub(crate) fn function<F: Copy>(&self, name: &std::ffi::CStr) -> F {
        // SAFETY: every test names functions of `module.c` with their types and uses them while they are mapped.
        unsafe { self.image.symbol(name) }.expect("exported")
    }

    pub(crate) fn owe(&self, seen: &Seen, again: c_int) {
        let owe: extern "C" fn(*mut c_void, c_int) = self.function(c"owe");
        owe(seen.pointer(), again);
    }

    pub(crate) fn owe_in_order(&self, seen: &Seen, digit: c_long) {
        let owe: extern "C" fn(*mut c_void, c_long) = self.function(c"owe_in_order");
        owe(seen.pointer(), digit);
    }

    pub(crate) fn start(&self, seen: &Seen, detached: bool) {
        let start: extern "C" fn(*mut c_void, c_int) -> c_int = self.function(c"start");
        assert_eq!(start(seen.pointer(), c_int::from(detached)), 0);
    }

    pub(crate) fn begin_end(self, policy: EndPolicy) -> (Ending, Arc<Ledger>) {
        // SAFETY: tests keep no function of the module.
        (unsafe { self.image.begin_end(policy) }, self.ledger)
    }

    /// Ends the module, and waits until it is unmapped. Panics after a generous time limit.
    pub(crate) fn end(self, policy: EndPolicy) -> alcedo_sys::EndReport {
        let (mut ending, _ledger) = self.begin_end(policy);
        finish(&mut ending)
    }
}

pub(crate) fn finish(ending: &mut Ending) -> alcedo_sys::EndReport {
    let mut last = None;
    let gone = wait_for(|| match ending.poll() {
        EndState::Gone(report) => Some(report),
        EndState::Waiting(holders) => {
            last = Some(format!("{holders:?}"));
            None
        }
        parked @ EndState::Parked { .. } => panic!("{parked:?}"),
    });
    gone.unwrap_or_else(|| panic!("still waiting for {last:?}"))
}

/// Calls `check` repeatedly until it returns a result, for a minute at most.
pub(crate) fn wait_for<T>(mut check: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = std::time::Instant::now();
    loop {
        let found = check();
        if found.is_some() || begun.elapsed() > Duration::from_secs(60) {
            return found;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Log subscriber that calls a function at each event.
pub(crate) struct AtEvents(pub(crate) fn());

impl tracing::Subscriber for AtEvents {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        (self.0)();
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
