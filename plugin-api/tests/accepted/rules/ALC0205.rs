//! ALC0205, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", was = "Box, Block")]
pub struct Cube {
    #[uproperty(was = "weight")]
    mass: f64,
}

fn main() {}
