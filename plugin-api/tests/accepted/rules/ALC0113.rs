//! ALC0113, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    async fn ring(this: Obj<Self>, times: u32) {}

    #[ufunction]
    async fn hear(this: Obj<Self>) {}
}

fn main() {}
