//! A plugin that misbehaves as its switch or its feature names it, and is healthy without any: hosts are tested with it.

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

/// The hook that panics when it runs next, on request; empty for none.
static NEXT: Mutex<String> = Mutex::new(String::new());

/// Panics where the switch is on, and once on request. The place is the caller's, so that reports can be compared with
/// the source.
#[track_caller]
fn misbehave(now: bool, hook: &str) {
    wait_if_asked(hook);
    assert!(!now && !requested(hook), "broken on purpose: {hook}");
}

/// The hook that does not return when it runs next, until there is this file.
static WAIT: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Waits if it was asked for.
fn wait_if_asked(hook: &str) {
    let asked = WAIT.lock().unwrap_or_else(PoisonError::into_inner).take_if(|(asked, _)| asked == hook);
    if let Some((_, path)) = asked {
        while !std::path::Path::new(&path).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// Whether this was asked for; it is done once.
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

/// An actor that is easily broken.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Fragile {
    /// How much it takes.
    #[uproperty(edit_anywhere, default = 3)]
    toughness: i32,
    /// What has to go with it when its construction fails.
    #[uproperty(default_subobject, root_component)]
    shell: Obj<SceneComponent>,

    /// How often it was poked.
    #[keep]
    pokes: u32,
    /// How often it was poked since this code began: not kept, so only a rollback saves it.
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
        // In a construction every property is zero still; in a reload they are the living object's.
        misbehave(fixture::on!("panic-in-rebuild") && this.toughness() != 0, "rebuild");
        if fixture::on!("meddles-in-rebuild") && this.toughness() != 0 {
            this.set_toughness(this.toughness() + 1);
            let other = this.get(this.shell()).and_then(|shell| shell.try_set_can_tick(true));
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
            // Straight in its memory, and through a function of its own.
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

    /// Pokes it, and gives how often it was poked.
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

    /// Is called back by `poke`.
    #[ufunction(blueprint_callable)]
    fn poke_back(&mut self) {
        self.pokes += 10;
    }

    /// Destroys the object it runs on, and goes on for a while: `self` is still there.
    #[ufunction(blueprint_callable)]
    fn end_itself(&mut self, this: This<Self>) -> u32 {
        this.destroy().unwrap_or_else(|error| panic!("{error}"));
        self.pokes += 100;
        self.pokes
    }

    /// How often it was poked, and how often since this code began.
    #[ufunction(blueprint_pure)]
    fn state(&self) -> String {
        format!("pokes={} nerves={}", self.pokes, self.nerves)
    }

    /// Calls what `name` stands for: what it says, or why it was refused.
    #[ufunction(blueprint_callable)]
    fn relay(&self, this: This<Self>, name: String) -> String {
        this.zcall::<_, String>(&name, ()).unwrap_or_else(|error| format!("refused: {error}"))
    }

    /// Makes one of the hooks panic when it runs next, in a build that is healthy otherwise.
    #[zmethod]
    fn panic_next_in(hook: String) {
        *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// Makes one of the hooks wait for a file when it runs next.
    #[zmethod]
    fn wait_next_in(hook: String, path: String) {
        *WAIT.lock().unwrap_or_else(PoisonError::into_inner) = Some((hook, path));
    }

    /// Calls the engine from a thread of the module's own, in every way that goes round the types: what each call
    /// was answered.
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
