//! ALC0114, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    async fn sort(this: Obj<Self>, list: UArray<u32>) -> u32 {
        0
    }
}

fn main() {}
