//! ALC0172.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(single, package = "Game", multicast)]
pub type OnScored = fn(points: i32);

fn main() {}
