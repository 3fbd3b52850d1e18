//! ALC0175.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(i32, _: bool);

fn main() {}
