//! ALC0031.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default_subobject)]
    speed: u32,
}

fn main() {}
