//! ALC0115.
#![allow(unused)]
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    async fn ring(this: This<Self>, times: u32) {}
}

fn main() {}
