//! ALC0173.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type MayScore = fn(points: i32) -> bool;

#[udelegate(sparse, package = "Game")]
pub type MayStop = fn() -> bool;

fn main() {}
