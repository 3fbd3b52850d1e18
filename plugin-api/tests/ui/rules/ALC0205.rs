//! ALC0205.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", was = "/Script/Game.Box")]
pub struct Cube {
    #[uproperty]
    mass: f64,
}

fn main() {}
