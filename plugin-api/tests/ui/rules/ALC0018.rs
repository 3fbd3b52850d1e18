//! ALC0018.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[overrides("Bell")]
    fn ring(&self, times: u32) -> u32 {
        times
    }
}

fn main() {}
