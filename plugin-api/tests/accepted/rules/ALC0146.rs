//! ALC0146, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Row {
    numbers: UArray<i32>,
    name: String,
}

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self, name: String, a: u8, b: i64, c: f32, rows: [f64; 3]) -> bool;

    #[dll_import]
    fn row(&self, row: &mut Row, more: &mut [u16; 4], text: &mut String, number: &mut f64) -> String;
}

fn main() {}
