//! ALC0096.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(category = 1)]
    speed: u32,
}

fn main() {}
