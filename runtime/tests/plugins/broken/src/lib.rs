//! Test plugin that fails as its switch or feature specifies. Without a switch or feature, the plugin is healthy.

#![deny(unsafe_code)]

use std::sync::{Mutex, PoisonError};

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, SceneComponent, Vector};

mod initializer;
#[cfg(feature = "off-thread-call")]
mod off_thread;
#[cfg(feature = "crash-in-registration")]
mod registration;
#[cfg(any(
    feature = "stale-property",
    feature = "stale-field",
    feature = "stale-base",
    feature = "stale-function",
    feature = "stale-owner"
))]
mod stale;
#[cfg(feature = "unknown-base")]
mod unknown_base;
#[cfg(feature = "unknown-package")]
mod unknown_package;
#[cfg(feature = "unresolved-symbol")]
mod unresolved;
#[cfg(feature = "wrong-signature")]
mod wrong_signature;

module! { name: "broken", main: started, exit: ended }

fn started() {
    tracing::info!("main of broken");
    misbehave(fixture::on!("panic-in-main"), "main");
    if fixture::on!("off-thread-log") {
        let thread = std::thread::Builder::new().name("broken".to_owned());
        let logging = thread.spawn(|| tracing::warn!("a thread of the module's own can log"));
        logging.expect("a thread can be started").join().expect("logging does not panic");
    }
}

fn ended() {
    tracing::info!("exit of broken");
    misbehave(fixture::on!("panic-in-exit"), "exit");
}

/// Name of the hook that panics on its next run. A test sets this name. An empty name selects no hook.
static NEXT: Mutex<String> = Mutex::new(String::new());

/// Panics if `now` is true, or once if a test requested a panic. `track_caller` lets tests compare the reported location with the source.
#[track_caller]
fn misbehave(now: bool, hook: &str) {
    wait_if_requested(hook);
    assert!(!now && !requested(hook), "broken on purpose: {hook}");
}

/// Hook that blocks on its next run until a file exists, with the path of this file.
static WAIT: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Waits for the file if a test requested this hook to wait.
fn wait_if_requested(hook: &str) {
    let hook_and_path = WAIT.lock().unwrap_or_else(PoisonError::into_inner).take_if(|(waiting, _)| waiting == hook);
    if let Some((_, path)) = hook_and_path {
        while !std::path::Path::new(&path).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// Returns `true` if a test has requested a panic in this hook. The next call returns `false`.
fn requested(hook: &str) -> bool {
    let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
    let requested = *next == hook;
    if requested {
        next.clear();
    }
    requested
}

#[cfg(feature = "does-not-compile")]
const PIECES: u32 = "none";

/// Actor that fails on request.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Fragile {
    /// Property whose default is not zero.
    #[uproperty(edit_anywhere, default = 3)]
    toughness: i32,
    /// Default subobject that is destroyed if the construction fails.
    #[uproperty(default_subobject, root_component)]
    hull: Obj<SceneComponent>,

    /// Number of pokes. A reload preserves this number.
    #[keep]
    pokes: u32,
    /// Number of pokes since this generation was loaded. Only a rollback preserves this number.
    nerves: u32,
}

#[uclass]
impl Fragile {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(object = this.name(), "red constructor of Fragile");
        misbehave(fixture::on!("panic-in-red-constructor"), "red constructor");
        if requested("destroy in red constructor") {
            this.destroy().unwrap_or_else(|error| panic!("{error}"));
        }
        // During a construction, all properties are still zero. During a rebuild, they have the values of the existing object.
        misbehave(fixture::on!("panic-in-rebuild") && this.toughness() != 0, "rebuild");
        if fixture::on!("meddles-in-rebuild") && this.toughness() != 0 {
            this.set_toughness(this.toughness() + 1);
            let other = this.get(this.hull()).and_then(|hull| hull.try_set_can_tick(true));
            let child = this.spawn::<Self>(Obj::none()).map(drop);
            for refused in [other, child].into_iter().filter_map(Result::err) {
                tracing::warn!(target: "meddling", "{refused}");
            }
        }
        Self { pokes: 0, nerves: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        misbehave(fixture::on!("panic-in-class-constructor"), "class constructor");
        this.set_can_tick(true);
        if fixture::on!("meddles-in-class-constructor") {
            let victim = this.zcall::<_, Obj<Actor>>("ex:/host.victim", ()).and_then(|victim| this.get(victim));
            let victim = victim.unwrap_or_else(|error| panic!("{error}"));
            // Tries a direct memory write, and a call that moves the object.
            for refused in [victim.try_set_can_tick(true), victim.try_add_location(Vector::up(1.0))] {
                if let Err(refused) = refused {
                    tracing::warn!(target: "meddling", "{refused}");
                }
            }
            let own = this.try_set_toughness(4).map_or_else(|error| error.to_string(), |()| "written".to_owned());
            tracing::warn!(target: "meddling", "its own is {own}");
        }
    }

    #[post_init_properties]
    fn differ(&mut self) {
        misbehave(fixture::on!("panic-in-post-init"), "PostInitProperties");
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        misbehave(fixture::on!("panic-in-event"), "event");
        this.base_receive_tick(delta);
    }

    /// Increments the counters and returns the number of pokes.
    #[ufunction(blueprint_callable)]
    fn poke(&mut self, this: This<Self>) -> u32 {
        self.pokes += 1;
        self.nerves += 1;
        misbehave(fixture::on!("panic-in-method"), "method");
        if fixture::on!("payload-bomb") {
            std::panic::panic_any(Bomb);
        }
        if fixture::on!("reentrant") {
            this.poke_back();
        }
        if fixture::on!("lent") {
            this.lend(self, |this| this.poke_back());
        }
        self.pokes
    }

    /// Adds ten pokes. `poke` calls this function while its own call is in progress.
    #[ufunction(blueprint_callable)]
    fn poke_back(&mut self) {
        self.pokes += 10;
    }

    /// Destroys its own object, and continues. `self` is valid until the call returns.
    #[ufunction(blueprint_callable)]
    fn end_itself(&mut self, this: This<Self>) -> u32 {
        this.destroy().unwrap_or_else(|error| panic!("{error}"));
        self.pokes += 100;
        self.pokes
    }

    /// Returns the counters `pokes` and `nerves` as text.
    #[ufunction(blueprint_pure)]
    fn state(&self) -> String {
        format!("pokes={} nerves={}", self.pokes, self.nerves)
    }

    /// Calls the function with this name. Returns the result or the error.
    #[ufunction(blueprint_callable)]
    fn relay(&self, this: This<Self>, name: String) -> String {
        this.zcall::<_, String>(&name, ()).unwrap_or_else(|error| format!("refused: {error}"))
    }

    /// Makes one of the hooks panic on its next run.
    #[zmethod]
    fn panic_next_in(hook: String) {
        *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// Makes one of the hooks wait for a file on its next run.
    #[zmethod]
    fn wait_next_in(hook: String, path: String) {
        *WAIT.lock().unwrap_or_else(PoisonError::into_inner) = Some((hook, path));
    }

    /// Calls the engine from a thread that the module starts, and bypasses every type check. Returns the reply to each call.
    #[cfg(feature = "off-thread-call")]
    #[zmethod]
    fn call_off_thread() -> String {
        off_thread::call()
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        tracing::info!(target: "ending", "a Fragile with {} pokes ends", self.pokes);
        misbehave(fixture::on!("panic-in-finalizer"), "finalizer");
    }
}

/// A panic payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any(Self);
    }
}
