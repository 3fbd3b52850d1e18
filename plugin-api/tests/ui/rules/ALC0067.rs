//! ALC0067.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[red_constructor]
    async fn new(this: This<Self>) -> Self {
        Self {}
    }
}

fn main() {}
