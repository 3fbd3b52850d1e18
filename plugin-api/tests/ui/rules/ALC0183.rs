//! ALC0183.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game", base = UString)]
pub struct Place {
    height: f64,
}

fn main() {}
