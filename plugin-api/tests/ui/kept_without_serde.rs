//! A kept field goes through serde.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[derive(Default)]
pub struct Opaque;

#[uclass(package = "Game")]
pub struct Keeper {
    #[keep]
    opaque: Opaque,
}

fn main() {}
