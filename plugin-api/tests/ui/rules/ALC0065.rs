//! ALC0065.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[class_constructor]
    fn construct(&mut self) -> u32 {
        1
    }
}

fn main() {}
