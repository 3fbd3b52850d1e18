//! ALC0112.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[zmethod]
    fn half(number: &mut u32) {}
}

fn main() {}
