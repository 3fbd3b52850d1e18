//! ALC0174, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Player {}

#[udelegate(multicast, of = Player)]
pub type OnScored = fn(points: i32);

fn main() {}
