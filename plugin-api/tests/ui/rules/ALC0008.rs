//! ALC0008.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Thing {}

#[uclass]
impl Thing {
    #[red_constructor]
    fn new() -> Result<Self, String> {
        Ok(Self {})
    }
}

fn main() {}
