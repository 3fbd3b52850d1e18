//! What one class is made of cannot be given to another, whose plugin part is another type.
#![forbid(unsafe_code)]

use alcedo_plugin_api::plumbing;
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct One {
    text: String,
}

#[uclass]
impl One {
    #[ufunction]
    fn length(&self) -> u64 {
        self.text.len() as u64
    }
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Two {
    number: u64,
}

impl Two {
    const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: plumbing::Body<One> = One::ONE_UCLASS_IMPL_BLOCK_PER_CLASS;
}

fn main() {}
