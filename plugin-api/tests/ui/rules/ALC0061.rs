//! ALC0061.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    fn ring(&self, (one, two): (u32, u32)) {}
}

fn main() {}
