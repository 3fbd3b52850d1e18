//! ALC0088.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(edit_anywhere, edit_anywhere)]
    speed: u32,
}

fn main() {}
