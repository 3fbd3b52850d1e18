//! Plugin that leaves threads, finalizers and resources behind, all of which end slowly. Each function starts one of them. Some functions
//! receive the path of a file, for which the thread or finalizer waits. A test then determines the end by creating the file.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{auto_dispose, thread::StopToken};

module! { name: "lingering", exit: ended }

/// Thread that the exit hook joins.
static JOINED_AT_EXIT: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// File for which the finalizers of sleepers wait, if there is one.
static ALARM: Mutex<Option<PathBuf>> = Mutex::new(None);

fn ended() {
    tracing::info!(target: "lingering", "exit");
    let joined = JOINED_AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(thread) = joined {
        thread.join().expect("waiting does not panic");
        tracing::info!(target: "lingering", "joined");
    }
}

fn wait_for(file: &Path) {
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Starts a thread, and returns when the thread runs.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let (ready, is_running) = std::sync::mpsc::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        ready.send(()).expect("the receiver is alive");
        run();
    });
    is_running.recv().expect("the thread reports its start");
    thread.expect("a thread can be started")
}

/// Starts a detached thread, named `exporter`, that runs until the file exists.
#[zcall(ex = "lingering.export")]
fn export(until: String) {
    drop(spawn("exporter", move || {
        wait_for(Path::new(&until));
        tracing::info!(target: "lingering", "exported");
    }));
}

/// Starts a detached thread. This thread ends when the unload requests the module's threads to stop.
#[zcall(ex = "lingering.obey")]
fn obey() {
    drop(spawn("obedient", || while !StopToken::new().wait(Duration::from_secs(1)) {}));
}

/// Starts a thread that ends when it receives a stop request. The exit hook joins this thread.
#[zcall(ex = "lingering.obey_joined")]
fn obey_joined() {
    let thread = spawn("joined", || while !StopToken::new().wait(Duration::from_secs(1)) {});
    *JOINED_AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
}

/// Resource that logs its drop. The drop may register a second resource.
struct Resource {
    name: String,
    then: Option<String>,
}

impl Drop for Resource {
    fn drop(&mut self) {
        tracing::info!(target: "lingering", "drop {}", self.name);
        if let Some(name) = self.then.take() {
            auto_dispose(Resource { name, then: None });
        }
        assert!(self.name != "stubborn", "it would not go");
    }
}

/// Registers a resource. The unload drops this resource.
#[zcall(ex = "lingering.leave")]
fn leave(name: String) {
    auto_dispose(Resource { name, then: None });
}

/// Registers a resource whose drop registers a second resource.
#[zcall(ex = "lingering.leave_two")]
fn leave_two(name: String, then: String) {
    auto_dispose(Resource { name, then: Some(then) });
}

/// Resource whose drop registers a resource of its own type.
struct Endless;

impl Drop for Endless {
    fn drop(&mut self) {
        auto_dispose(Endless);
    }
}

/// Registers a resource whose drop registers the next one, endlessly.
#[zcall(ex = "lingering.leave_endless")]
fn leave_endless() {
    auto_dispose(Endless);
}

/// Sets the file for which the finalizers of sleepers wait.
#[zcall(ex = "lingering.set_alarm")]
fn set_alarm(file: String) {
    *ALARM.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.into());
}

/// Object whose finalizer waits for the alarm file if `sleep` was called. No class default object receives this call.
#[uclass(package = "Game", base = Object, blueprintable)]
pub struct Sleeper {
    /// Set by `sleep`.
    slept: bool,
    /// Set by `report`.
    reports: bool,
    /// Set by `nap`.
    naps: bool,
}

#[uclass]
impl Sleeper {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { slept: false, reports: false, naps: false }
    }

    /// Makes the finalizer wait for the alarm file.
    #[ufunction(blueprint_callable)]
    fn sleep(&mut self) {
        self.slept = true;
    }

    /// Makes the finalizer log its end.
    #[ufunction]
    fn report(&mut self) {
        self.reports = true;
    }

    /// Makes the finalizer sleep for a millisecond.
    #[ufunction]
    fn nap(&mut self) {
        self.naps = true;
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let alarm = ALARM.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(alarm) = alarm.filter(|_| self.slept) {
            wait_for(&alarm);
        }
        if self.naps {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.reports {
            tracing::info!(target: "lingering", "woken");
        }
    }
}
