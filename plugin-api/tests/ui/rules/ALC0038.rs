//! ALC0038.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[zcall]
fn add(one: u32) -> u32 {
    one
}

fn main() {}
