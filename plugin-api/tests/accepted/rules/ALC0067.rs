//! ALC0067, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        Self {}
    }
}

fn main() {}
