//! ALC0117.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Engine")]
pub struct Actor {}

#[uclass(imported)]
impl Actor {
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta: f32);
}

#[uclass(package = "Game", base = Actor)]
#[derive(Default)]
pub struct Cube {}

#[uclass]
impl Cube {
    #[overrides(Actor)]
    fn receive_tock(&mut self, delta: f32) {}
}

#[uclass(package = "Game", base = Cube)]
#[derive(Default)]
pub struct Small {}

#[uclass]
impl Small {
    #[overrides(Cube)]
    fn receive_tick(&mut self, delta: f32) {}

    #[overrides(Cube)]
    fn land(&mut self) {}
}

fn main() {}
