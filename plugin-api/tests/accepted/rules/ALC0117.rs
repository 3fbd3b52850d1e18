//! ALC0117, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Bell {}

#[uclass]
impl Bell {
    #[ufunction(blueprint_native_event)]
    fn ring(&self, times: &mut u32) -> u32;
    fn ring_implementation(&self, times: &mut u32) -> u32 {
        *times
    }
}

#[uclass(package = "Game", base = Bell)]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[overrides(Bell)]
    fn ring(&self, times: &mut u32) -> u32 {
        *times + 1
    }
}

fn main() {}
