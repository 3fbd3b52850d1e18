//! ALC0182.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Spot {
    name: UString,
}

#[ustruct(pod, package = "Game", base = Spot)]
pub struct Place {
    height: f64,
}

fn main() {}
