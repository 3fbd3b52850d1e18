//! ALC0173, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(single, package = "Game")]
pub type MayScore = fn(points: i32) -> bool;

#[udelegate(sparse, package = "Game")]
pub type MayStop = fn() -> ();

fn main() {}
