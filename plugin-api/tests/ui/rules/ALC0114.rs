//! ALC0114.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    async fn sort(this: Obj<Self>, list: Lent<UArray<u32>>, count: &mut u32) {}
}

fn main() {}
