//! ALC0181, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Spot {
    name: UString,
}

#[ustruct(package = "Game", base = Spot)]
pub struct Place {
    height: f64,
}

#[ustruct(package = "Game")]
pub struct Column {
    base: f64,
}

fn main() {}
