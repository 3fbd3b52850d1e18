//! A class is not generic.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Holder<T> {
    value: T,
}

fn main() {}
