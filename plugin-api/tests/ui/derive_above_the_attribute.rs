//! `#[ustruct(pod)]` and `#[uenum]` derive `Clone` and `Copy`, unless the author does so below them.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[derive(Clone, Copy)]
#[ustruct(pod, package = "Game")]
pub struct Above {
    height: f64,
}

#[ustruct(pod, package = "Game")]
#[derive(Clone, Copy)]
pub struct Below {
    height: f64,
}

fn main() {}
