//! ALC0179, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32, before: i32);

fn main() {}
