//! ALC0148.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import(bool8)]
    fn ring(&self) -> u8;
}

fn main() {}
