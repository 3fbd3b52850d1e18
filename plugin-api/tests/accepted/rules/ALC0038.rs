//! ALC0038, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[zcall(ex = "math.add")]
fn add(one: u32) -> u32 {
    one
}

fn main() {}
