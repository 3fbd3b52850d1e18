//! ALC0087.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(edit_anywere)]
    speed: u32,
}

fn main() {}
