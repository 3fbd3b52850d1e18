//! ALC0142.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass(package = "Game", base = Thing)]
#[derive(Default)]
pub struct Derived {}

fn main() {}
