//! ALC0111.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    fn fill(&self, list: &mut Lent<UArray<f64>>) {}
}

fn main() {}
