//! ALC0026.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Game", blueprintable)]
pub struct Lamp {}

fn main() {}
