//! ALC0021.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_native_event)]
    fn ring(&self, times: u32) -> u32;
    fn ring_implementation(&self, times: u32, loud: bool) -> u32 {
        1
    }
}

fn main() {}
