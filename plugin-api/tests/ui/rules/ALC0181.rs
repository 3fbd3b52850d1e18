//! ALC0181.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Spot {
    name: UString,
}

#[ustruct(package = "Game", base = Spot)]
pub struct Place {
    base: f64,
}

fn main() {}
