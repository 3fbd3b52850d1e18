//! ALC0145, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn call(&self) -> i32;

    #[dll_import]
    fn sort(&self, row: &mut [i32; 8]);

    #[ufunction]
    fn tried(&self, this: This<Self>) -> Result<i32, CallError> {
        let mut row = [3, 1, 2, 0, 0, 0, 0, 0];
        this.try_sort(&mut row)?;
        this.try_call()
    }
}

fn main() {}
