//! ALC0140, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing-2_x")]
#[derive(Default)]
pub struct Thing {}

fn main() {}
