//! ALC0116.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_pure)]
    async fn length(this: Obj<Self>) -> u32 {
        0
    }
}

fn main() {}
