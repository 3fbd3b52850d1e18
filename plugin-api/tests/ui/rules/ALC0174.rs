//! ALC0174.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Player {}

#[udelegate(multicast, package = "Game", of = Player)]
pub type OnScored = fn(points: i32);

fn main() {}
