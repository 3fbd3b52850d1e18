//! ALC0100.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty]
    speed: u32,
}

#[uclass]
impl Thing {
    #[ufunction]
    fn ring(&self) -> u32 {
        self.speed
    }
}

fn main() {}
