//! ALC0034.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    #[cfg_attr(unix, doc = "x")]
    fn ring(&self) {}
}

fn main() {}
