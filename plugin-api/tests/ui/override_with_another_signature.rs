//! An override has the signature of the event.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Engine")]
pub struct Actor {
    #[uproperty]
    seed: u32,
}

#[uclass(imported)]
impl Actor {
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta: f32);
}

#[uclass(package = "Game", base = Actor)]
pub struct Cube {}

#[uclass]
impl Cube {
    #[overrides(Actor)]
    fn receive_tick(&mut self, delta: f64) {
        let _ = delta;
    }
}

fn main() {}
