//! ALC0037.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default = u32::MAX)]
    speed: u32,
}

fn main() {}
