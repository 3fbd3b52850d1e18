//! A default fits its property.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Odd {
    #[uproperty(default = "fast")]
    speed: f64,
}

fn main() {}
