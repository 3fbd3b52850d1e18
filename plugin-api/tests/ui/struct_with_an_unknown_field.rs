//! A field of a struct has a type that the host knows.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Stats {
    strength: f64,
    letter: char,
}

fn main() {}
