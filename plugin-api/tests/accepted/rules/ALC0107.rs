//! ALC0107, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[zmethod]
    fn ring() {}
}

impl Drop for Thing {
    fn drop(&mut self) {}
}

fn main() {}
