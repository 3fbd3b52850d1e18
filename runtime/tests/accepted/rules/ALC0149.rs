//! ALC0149, kept.
#![allow(unused)]
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction(blueprint_implementable_event)]
    fn ring(&self);
}

fn main() {}
