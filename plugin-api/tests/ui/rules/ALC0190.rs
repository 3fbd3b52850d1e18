//! ALC0190.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", abstract, dll_bind = "Sums")]
#[derive(Default)]
pub struct Thing {}

fn main() {}
