//! ALC0180, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
pub struct Size {
    #[uproperty(default = 1.0)]
    height: f64,
    width: f64,
}

#[ustruct(pod, package = "Game")]
pub struct Boxed {
    #[uproperty(default = (height = -2.5))]
    size: Size,
}

#[ustruct(package = "Game")]
pub struct Words {
    #[uproperty(default = "none")]
    text: UString,
    #[uproperty(default = (height = 3.0, width = 1.0))]
    size: Size,
}

fn main() {}
