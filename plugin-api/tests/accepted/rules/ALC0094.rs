//! ALC0094, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(meta(units = "m/s"))]
    speed: u32,
}

fn main() {}
