//! ALC0107.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[begin_destroy]
    fn end(&mut self) {}
}

fn main() {}
