//! ALC0042, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[zmethod]
    fn count() -> u32 {
        1
    }
}

fn main() {}
