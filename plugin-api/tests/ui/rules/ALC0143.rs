//! ALC0143.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self);
}

fn main() {}
