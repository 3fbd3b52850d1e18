//! ALC0176, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(single, package = "Game")]
pub type OnScored = fn(points: i32) -> i32;

fn main() {}
