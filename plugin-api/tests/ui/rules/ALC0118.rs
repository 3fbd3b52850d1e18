//! ALC0118.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

impl Thing {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {}

    #[ufunction(blueprint_native_event)]
    fn ring(&self, times: u32);

    #[ufunction]
    fn count(&self) -> u32 {
        1
    }
}

fn main() {}
