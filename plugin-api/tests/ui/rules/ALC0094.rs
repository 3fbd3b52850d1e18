//! ALC0094.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(meta(units))]
    speed: u32,
}

fn main() {}
