//! ALC0171, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(sparse, package = "Game")]
pub type OnScored = fn(points: i32);

fn main() {}
