//! ALC0171.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(package = "Game")]
pub type OnScored = fn(points: i32);

fn main() {}
