//! ALC0084.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(defaults(times = 3))]
    fn ring(&self, times: u32, loud: bool) {}
}

fn main() {}
