//! ALC0113.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    async fn ring(&self, times: u32) {}

    #[ufunction]
    async fn hear(this: This<Self>) {}

    #[ufunction]
    async fn rest() {}
}

fn main() {}
