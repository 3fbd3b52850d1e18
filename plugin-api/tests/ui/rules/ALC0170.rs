//! ALC0170.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[udelegate(multicast, package = "Game")]
pub struct OnScored {
    points: i32,
}

fn main() {}
