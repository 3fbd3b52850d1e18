//! ALC0146.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self, name: UName);

    #[dll_import]
    fn row(&self) -> Vec<i32>;
}

fn main() {}
