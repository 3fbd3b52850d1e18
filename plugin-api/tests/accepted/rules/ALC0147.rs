//! ALC0147, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self, row: [i32; 2]);
}

fn main() {}
