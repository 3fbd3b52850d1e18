//! Holds owned values in every location from which values may be dropped: jobs, thread-locals, statics, exit hooks, plugin parts, threads.
//! A probe in each location logs its creation and its drop. A probe uses its values in every possible way when it is dropped.
//! `runtime/tests/lifetimes` selects the locations and the order of destruction.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alcedo_plugin_api::auto_dispose;
use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::task::{Life, Module, delay, post, post_to};
#[cfg(not(feature = "without-holders"))]
use engine_glue::Actor;

module! { name: "lifetimes", main: started, exit: ended }

/// Period that is longer than any run.
const NEVER: Duration = Duration::from_secs(3_600);

/// Numbers of the locations that need no object. The test uses the same numbers.
const FREE_SLOTS: [u8; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

static KEPT: Mutex<Vec<Probe>> = Mutex::new(Vec::new());

thread_local! {
    static HERE: RefCell<Vec<Probe>> = const { RefCell::new(Vec::new()) };
}

/// Thread on which `main` runs.
static GAME: OnceLock<ThreadId> = OnceLock::new();

fn started() {
    GAME.get_or_init(|| std::thread::current().id());
    if fixture::on!("armed") || fixture::on!("panicking-main") || fixture::on!("failing-red") {
        FREE_SLOTS.iter().for_each(|slot| hold(Module, *slot));
    }
    if fixture::on!("panicking-main") {
        let _unwound = Probe::new("stack");
        panic!("broken on purpose: main");
    }
}

fn ended() {
    drop(Probe::new("stack"));
    drop(take(&KEPT));
}

fn take(kept: &Mutex<Vec<Probe>>) -> Vec<Probe> {
    std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns a number that differs between all instances of this module, even between instances of one build.
fn instance() -> u64 {
    static INSTANCE: OnceLock<u64> = OnceLock::new();
    *INSTANCE.get_or_init(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64))
}

fn log_line(line: &str) {
    tracing::info!(target: "lifetimes", "{line}");
}

/// Stores a new value in a location that is bound to `life` or to the module.
fn hold<L: Life + 'static>(life: L, slot: u8) {
    match slot {
        0 => {
            let held = Probe::new("timer");
            timer::every(life, NEVER, move |_| held.inspect());
        }
        1 => {
            let held = Probe::new("timer");
            timer::after(life, NEVER, move |_| held.inspect());
        }
        2 => {
            let held = Probe::new("task");
            task::spawn(life, async move {
                delay(NEVER).await;
                held.inspect();
            });
        }
        3 => {
            let held = Probe::new("task");
            task::spawn(life, async move {
                std::future::pending::<()>().await;
                held.inspect();
            });
        }
        4 => {
            let held = Probe::new("post");
            post(move || drop(held)).unwrap_or_else(|error| panic!("{error}"));
        }
        5 => HERE.with_borrow_mut(|here| here.push(Probe::new("local"))),
        6 => KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(Probe::new("static")),
        7 => drop(auto_dispose(Probe::new("resource"))),
        8 => {
            let (inner, again) = (Probe::new("timer"), Again(Some(Probe::new("timer"))));
            timer::every(life, NEVER, move |_| {
                let _again = &again;
                inner.inspect();
            });
        }
        _ => drop(Probe::new("stack")),
    }
}

/// Passes the wrapped value to a new timer on drop. The host refuses this timer during destruction.
struct Again(Option<Probe>);

impl Drop for Again {
    fn drop(&mut self) {
        let held = self.0.take();
        if std::thread::panicking() {
            return;
        }
        let begun = timer::try_after(Module, NEVER, move |_module| drop(held));
        drop(begun);
    }
}

/// Owns values in host memory, and uses them when it is dropped.
struct Probe {
    serial: u64,
    label: &'static str,
    list: UArray<UString>,
    twin: UArray<UString>,
    map: UMap<UString, UArray<u64>>,
    bound: Delegate<fn(u64)>,
}

impl Probe {
    fn new(label: &'static str) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let serial = LAST.fetch_add(1, Ordering::Relaxed);
        let list: UArray<UString> = Self::list_text(serial).parse().unwrap_or_else(|error| panic!("{error}"));
        let map = [("numbers", vec![serial; 20])].into_iter().collect();
        let bound = Delegate::new().unwrap_or_else(|error| panic!("{error}"));
        log_line(&format!("made {} {serial} {label}", instance()));
        Self { serial, label, twin: UArray::clone(&list), list, map, bound }
    }

    /// Returns the value of `list` as the host prints it.
    fn list_text(serial: u64) -> String {
        format!("(\"number {serial}, which is too long to lie anywhere but in a block of its own\", \"two\")")
    }

    /// Returns the outcome of each use: `right`, `refused`, or the value if it is wrong.
    fn results(&self) -> String {
        let quietly = |what: &dyn Fn() -> Option<String>| {
            let result = catch_unwind(AssertUnwindSafe(what));
            result.unwrap_or(None)
        };
        let list_text = Self::list_text(self.serial);
        let visible = |text: String| if text.contains(" black ") || text.starts_with('<') { None } else { Some(text) };
        let numbers = format!("((\"numbers\", ({})))", vec![self.serial.to_string(); 20].join(", "));
        let uses: [(Option<String>, &str); 8] = [
            (quietly(&|| (!self.list.is_expired()).then(|| "there".to_owned())), "there"),
            (quietly(&|| visible(self.list.to_string())), &list_text),
            (quietly(&|| visible(format!("{:?}", self.list))), &list_text),
            (quietly(&|| Some((self.list == self.twin).to_string())), "true"),
            (quietly(&|| Some((self.list == UArray::new().ok()?).to_string())), "false"),
            (quietly(&|| visible(self.list.try_clone().ok()?.to_string())), &list_text),
            (
                quietly(&|| visible(self.map.to_string().replace("numbers", "\"numbers\"").replace("\"\"", "\""))),
                &numbers,
            ),
            (quietly(&|| visible(self.bound.to_string())), "none"),
        ];
        let results: Vec<_> = uses
            .into_iter()
            .map(|(found, expected)| match found {
                None => "refused".to_owned(),
                Some(found) if found == expected => "right".to_owned(),
                Some(found) => format!("wrong: {found}"),
            })
            .collect();
        results.join(",")
    }

    fn inspect(&self) {
        log_line(&format!("seen {} {} {} {}", instance(), self.serial, self.label, self.results()));
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let thread = std::thread::current();
        // The host chooses the names of its threads, so a host thread is identified by its id.
        let thread = match thread.name() {
            Some("lifetimes-worker") => "worker",
            _ if GAME.get() == Some(&thread.id()) => "game",
            _ => "finalizer",
        };
        log_line(&format!("gone {} {} {} {thread} {}", instance(), self.serial, self.label, self.results()));
    }
}

/// Object that stores values in the locations that the test selects.
#[cfg(not(feature = "without-holders"))]
#[uclass(package = "Game", base = Actor)]
pub struct Holder {
    kept: Vec<Probe>,
}

#[cfg(not(feature = "without-holders"))]
#[uclass]
impl Holder {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        static BUILT: AtomicU64 = AtomicU64::new(0);
        let kept = vec![Probe::new("half")];
        let is_third = BUILT.fetch_add(1, Ordering::Relaxed) % 3 == 2;
        assert!(!fixture::on!("failing-red") || !is_third || this.name().starts_with("Default__"), "on purpose");
        Self { kept }
    }

    /// Stores a value in a location that belongs to the module.
    #[ufunction(blueprint_callable)]
    fn hold_free(&self, slot: u8) {
        hold(Module, slot);
    }

    /// Stores a value in a location that belongs to this object.
    #[ufunction(blueprint_callable)]
    fn hold_here(&mut self, this: This<Self>, slot: u8) {
        match slot {
            4 => {
                let held = Probe::new("post");
                post_to(this.as_obj(), move |_this| drop(held)).unwrap_or_else(|error| panic!("{error}"));
            }
            9 => self.kept.push(Probe::new("half")),
            _ => hold(this.as_obj(), slot),
        }
    }

    /// Drops the object's own values on the calling thread, or on a new thread.
    #[ufunction(blueprint_callable)]
    fn let_go(&mut self, on_thread: bool) {
        let kept = std::mem::take(&mut self.kept);
        if on_thread {
            let worker = std::thread::Builder::new().name("lifetimes-worker".to_owned());
            let worker = worker.spawn(move || drop(kept)).unwrap_or_else(|error| panic!("{error}"));
            worker.join().unwrap_or_else(|_| panic!("the thread panicked"));
        }
    }

    /// Drops the values in the thread-local and in the static.
    #[ufunction(blueprint_callable)]
    fn empty(&self) {
        drop(HERE.take());
        drop(take(&KEPT));
    }

    /// Uses all values that this object holds, both opened and not opened. Returns the number of these values.
    #[ufunction(blueprint_callable)]
    fn check(&self, this: This<Self>) -> u64 {
        for kept in &self.kept {
            kept.inspect();
            assert_eq!(this.open(&kept.list).len(), 2);
            assert_eq!(this.open(&kept.list).to_string(), Probe::list_text(kept.serial));
        }
        self.kept.len() as u64
    }
}
