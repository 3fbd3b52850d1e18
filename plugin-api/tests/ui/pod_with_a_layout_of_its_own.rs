//! A struct that travels by value lies in memory as C lays it out, and has no other layout.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
#[repr(align(16))]
pub struct Apart {
    at: f64,
}

fn main() {}
