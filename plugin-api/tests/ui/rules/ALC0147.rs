//! ALC0147.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

const LEN: usize = 2;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self, row: [i32; LEN]);
}

fn main() {}
