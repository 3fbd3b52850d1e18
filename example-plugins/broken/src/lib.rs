//! A plugin that misbehaves in the way its feature says, and is healthy without any: hosts are tested with it.

// The witness runs before any code that could be asked, so it needs a linker section, which is unsafe to name.
#![cfg_attr(not(feature = "witness"), forbid(unsafe_code))]

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

#[cfg(feature = "unknown-base")]
mod unknown_base;
#[cfg(feature = "unknown-package")]
mod unknown_package;
#[cfg(feature = "witness")]
mod witness;
#[cfg(feature = "wrong-signature")]
mod wrong_signature;

module! { name: "broken", main: started, exit: ended }

fn started() {
    tracing::info!("main of broken");
    misbehave(cfg!(feature = "panic-in-main"), "main");
    if cfg!(feature = "off-thread-log") {
        let thread = std::thread::Builder::new().name("broken".to_owned());
        let logging = thread.spawn(|| tracing::warn!("a thread of the module's own can log"));
        logging.expect("a thread can be started").join().expect("logging does not panic");
    }
}

fn ended() {
    tracing::info!("exit of broken");
    misbehave(cfg!(feature = "panic-in-exit"), "exit");
}

/// Panics where the feature is on. The place is the caller's, so that reports can be compared with the source.
#[track_caller]
fn misbehave(now: bool, hook: &str) {
    assert!(!now, "broken on purpose: {hook}");
}

#[cfg(feature = "does-not-compile")]
const PIECES: u32 = "none";

/// An actor that is easily broken.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Fragile {
    /// How much it takes.
    #[uproperty(edit_anywhere, default = 3)]
    toughness: i32,

    /// How often it was poked.
    #[keep]
    pokes: u32,
}

#[uclass]
impl Fragile {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        tracing::info!(object = this.name(), "red constructor of Fragile");
        misbehave(cfg!(feature = "panic-in-red-constructor"), "red constructor");
        Self { pokes: 0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        misbehave(cfg!(feature = "panic-in-class-constructor"), "class constructor");
        this.set_can_tick(true);
    }

    #[post_init_properties]
    fn differ(&mut self) {
        misbehave(cfg!(feature = "panic-in-post-init"), "PostInitProperties");
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        misbehave(cfg!(feature = "panic-in-event"), "event");
        this.base_receive_tick(delta);
    }

    /// Pokes it, and gives how often it was poked.
    #[ufunction(blueprint_callable)]
    fn poke(&mut self, this: This<Self>) -> u32 {
        self.pokes += 1;
        misbehave(cfg!(feature = "panic-in-method"), "method");
        if cfg!(feature = "payload-bomb") {
            std::panic::panic_any(Bomb);
        }
        if cfg!(feature = "reentrant") {
            this.poke_back();
        }
        if cfg!(feature = "lent") {
            this.lend(self, |this| this.poke_back());
        }
        self.pokes
    }

    /// Is called back by `poke`.
    #[ufunction(blueprint_callable)]
    fn poke_back(&mut self) {
        self.pokes += 10;
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        misbehave(cfg!(feature = "panic-in-finalizer"), "finalizer");
    }
}

/// A panic payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any(Self);
    }
}
