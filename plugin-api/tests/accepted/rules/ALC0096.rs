//! ALC0096, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(category = "Light")]
    speed: u32,
}

fn main() {}
