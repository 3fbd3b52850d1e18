//! ALC0180.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(pod, imported, package = "Game")]
pub struct Size {
    #[uproperty(default = 1.0)]
    height: f64,
}

fn main() {}
