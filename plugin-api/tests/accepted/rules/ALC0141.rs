//! ALC0141, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing", blueprint_type)]
#[derive(Default)]
pub struct Thing {}

fn main() {}
