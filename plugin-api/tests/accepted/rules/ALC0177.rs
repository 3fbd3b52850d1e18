//! ALC0177, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32);

#[udelegate(multicast, package = "Game")]
pub type OnMissed = fn(points: i32);

fn main() {}
