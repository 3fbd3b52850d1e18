//! ALC0176.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: &mut i32);

fn main() {}
