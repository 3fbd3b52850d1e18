//! Without a red constructor every field has a default.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

pub struct Made(u32);

#[uclass(package = "Game")]
pub struct Needy {
    made: Made,
}

fn main() {}
