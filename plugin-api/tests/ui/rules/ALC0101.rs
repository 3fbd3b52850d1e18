//! ALC0101.
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
    fn ring(&self, this: This<Self>) {
        this.speed = 1;
    }
}

fn main() {}
