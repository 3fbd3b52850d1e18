//! ALC0040, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[zcall(ex = "math.add")]
fn add() -> u32 {
    1
}

fn main() {}
