//! ALC0095, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(meta(units = "m"))]
    speed: u32,
}

fn main() {}
