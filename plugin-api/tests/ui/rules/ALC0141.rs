//! ALC0141.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing", blueprintable)]
#[derive(Default)]
pub struct Thing {}

fn main() {}
