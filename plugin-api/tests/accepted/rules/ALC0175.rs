//! ALC0175, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32, _twice: bool);

fn main() {}
