//! ALC0037, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default = 4_294_967_295)]
    speed: u32,
}

fn main() {}
