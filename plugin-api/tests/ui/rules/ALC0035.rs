//! ALC0035.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[cfg(unix)]
    held: u32,
}

fn main() {}
