//! ALC0005, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Thing {}

#[uclass]
impl Thing {
    #[red_constructor]
    fn new() -> Self {
        Self {}
    }
}

fn main() {}
