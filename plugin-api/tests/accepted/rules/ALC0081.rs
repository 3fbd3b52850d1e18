//! ALC0081, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(meta(clamp_min = "0"))]
    speed: u32,
}

fn main() {}
