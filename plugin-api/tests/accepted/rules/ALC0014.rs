//! ALC0014, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_implementable_event)]
    fn ring(&self);
}

fn main() {}
