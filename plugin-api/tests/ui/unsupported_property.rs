//! A property has a type that the host knows.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Odd {
    #[uproperty]
    list: Vec<u8>,
}

fn main() {}
