//! ALC0140.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "libThing.so")]
#[derive(Default)]
pub struct Thing {}

#[uclass(package = "Game", dll_bind)]
#[derive(Default)]
pub struct Other {}

fn main() {}
