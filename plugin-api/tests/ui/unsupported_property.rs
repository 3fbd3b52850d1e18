//! A property has a type that the host knows.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Odd {
    #[uproperty]
    pair: (u8, u8),
}

fn main() {}
