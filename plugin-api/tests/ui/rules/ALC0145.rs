//! ALC0145.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self, this: This<Self>);

    #[dll_import]
    fn call(&self) -> Result<i32, String>;

    #[dll_import]
    fn sort(&self, row: Lent<UArray<i32>>);
}

fn main() {}
