//! ALC0149.
#![allow(unused)]
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import]
    fn ring(&self);
}

fn main() {}
