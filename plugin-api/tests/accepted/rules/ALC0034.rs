//! ALC0034, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[ufunction]
    #[cfg(any(unix, windows))]
    fn ring(&self) {}
}

fn main() {}
