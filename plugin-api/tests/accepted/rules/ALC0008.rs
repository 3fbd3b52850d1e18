//! ALC0008, kept.
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

    #[ufunction]
    fn open(&mut self) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}
