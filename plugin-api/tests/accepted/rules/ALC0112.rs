//! ALC0112, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[zmethod]
    fn half(number: u32) -> u32 {
        number / 2
    }
}

fn main() {}
