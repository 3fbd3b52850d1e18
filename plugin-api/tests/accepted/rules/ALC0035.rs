//! ALC0035, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[cfg(any(unix, windows))]
#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    held: u32,
}

fn main() {}
