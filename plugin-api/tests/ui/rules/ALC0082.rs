//! ALC0082.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(category = "Light", meta(category = "Dark"))]
    speed: u32,
}

fn main() {}
