//! ALC0016.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_implementable_event)]
    fn ring(&self) -> Result<u32, String>;
}

fn main() {}
