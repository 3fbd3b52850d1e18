//! A default fits into its property.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Odd {
    #[uproperty(default = 300)]
    small: u8,
}

fn main() {}
