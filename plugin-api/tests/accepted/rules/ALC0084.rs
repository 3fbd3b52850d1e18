//! ALC0084, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(defaults(times = 3, loud = true))]
    fn ring(&self, times: u32, loud: bool) {}
}

fn main() {}
