//! ALC0024.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Thing<T> {
    held: T,
}

fn main() {}
