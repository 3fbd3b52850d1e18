//! ALC0083.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(defaults(tims = 3))]
    fn ring(&self, times: u32) {}
}

fn main() {}
