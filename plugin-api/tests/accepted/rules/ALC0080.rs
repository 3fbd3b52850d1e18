//! ALC0080, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game", pod)]
pub struct Point {
    x: f64,
}

fn main() {}
