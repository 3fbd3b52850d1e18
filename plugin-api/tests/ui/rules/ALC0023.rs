//! ALC0023.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_pure, blueprint_callable)]
    fn ring(&self) {}
}

fn main() {}
