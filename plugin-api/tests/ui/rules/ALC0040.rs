//! ALC0040.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[zcall(ex = "math.add")]
fn add(this: This<Object>) -> u32 {
    1
}

fn main() {}
