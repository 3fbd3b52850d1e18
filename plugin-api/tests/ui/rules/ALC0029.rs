//! ALC0029.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty]
    #[keep]
    speed: u32,
}

fn main() {}
