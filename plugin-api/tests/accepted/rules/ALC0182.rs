//! ALC0182, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
pub struct Spot {
    x: f64,
}

#[ustruct(pod, package = "Game")]
pub struct Place {
    spot: Spot,
    height: f64,
}

#[ustruct(package = "Game", base = Spot)]
pub struct Extended {
    height: f64,
}

fn main() {}
