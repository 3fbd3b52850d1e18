//! ALC0115, kept.
#![allow(unused)]
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    fn ring(&self, times: u32) {}
}

fn main() {}
