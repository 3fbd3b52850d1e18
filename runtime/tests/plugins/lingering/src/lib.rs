//! A plugin that leaves something behind that takes its time to end: threads, finalizers, resources. Each function
//! begins one such thing; where an end is awaited, it comes when a file appears, so that whoever watches decides when.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{auto_dispose, thread::StopToken};

module! { name: "lingering", exit: ended }

/// A thread that the exit hook joins.
static JOINED_AT_EXIT: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// The file that every sleeper waits for before its finalizer returns; none for those that do not sleep.
static ALARM: Mutex<Option<PathBuf>> = Mutex::new(None);

fn ended() {
    tracing::info!(target: "lingering", "exit");
    let joined = JOINED_AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(thread) = joined {
        thread.join().expect("it only waits");
        tracing::info!(target: "lingering", "joined");
    }
}

fn wait_for(file: &Path) {
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A thread that runs already.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let (ready, is_running) = std::sync::mpsc::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        ready.send(()).expect("it is waited for");
        run();
    });
    is_running.recv().expect("it says so");
    thread.expect("the system has a thread left")
}

/// Starts a thread, called `exporter`, that runs until the file appears. Nobody joins it.
#[zcall(ex = "lingering.export")]
fn export(until: String) {
    drop(spawn("exporter", move || {
        wait_for(Path::new(&until));
        tracing::info!(target: "lingering", "exported");
    }));
}

/// Starts a thread that ends when the module's threads are asked to stop. Nobody joins it.
#[zcall(ex = "lingering.obey")]
fn obey() {
    drop(spawn("obedient", || while !StopToken::new().wait(Duration::from_secs(1)) {}));
}

/// Starts a thread that ends when it is asked to stop, and that the exit hook waits for.
#[zcall(ex = "lingering.obey_joined")]
fn obey_joined() {
    let thread = spawn("joined", || while !StopToken::new().wait(Duration::from_secs(1)) {});
    *JOINED_AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
}

/// Something that says when it is dropped, and may register another then.
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

/// Leaves a resource to be dropped at the unload.
#[zcall(ex = "lingering.leave")]
fn leave(name: String) {
    auto_dispose(Resource { name, then: None });
}

/// Leaves a resource whose drop leaves another.
#[zcall(ex = "lingering.leave_two")]
fn leave_two(name: String, then: String) {
    auto_dispose(Resource { name, then: Some(then) });
}

/// Something whose drop leaves another to be dropped.
struct Endless;

impl Drop for Endless {
    fn drop(&mut self) {
        auto_dispose(Endless);
    }
}

/// Leaves a resource whose drop leaves another, and so on.
#[zcall(ex = "lingering.leave_endless")]
fn leave_endless() {
    auto_dispose(Endless);
}

/// From now on the finalizers of sleepers wait for this file.
#[zcall(ex = "lingering.set_alarm")]
fn set_alarm(file: String) {
    *ALARM.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.into());
}

/// An object whose finalizer takes as long as the alarm says, but for class default objects, which have not slept.
#[uclass(package = "Game", base = Object, blueprintable)]
pub struct Sleeper {
    /// Whether it has slept.
    slept: bool,
}

#[uclass]
impl Sleeper {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { slept: false }
    }

    /// Sleeps, so that its finalizer has to wait.
    #[ufunction(blueprint_callable)]
    fn sleep(&mut self) {
        self.slept = true;
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let alarm = ALARM.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(alarm) = alarm.filter(|_| self.slept) {
            wait_for(&alarm);
        }
    }
}
