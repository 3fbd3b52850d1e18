//! ALC0091.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", base = "Object")]
#[derive(Default)]
pub struct Thing {}

fn main() {}
