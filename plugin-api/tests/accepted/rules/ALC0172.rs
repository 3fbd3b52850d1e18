//! ALC0172, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(package = "Game", multicast)]
pub type OnScored = fn(points: i32);

fn main() {}
