//! ALC0098.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "/Script/Game")]
#[derive(Default)]
pub struct Thing {}

fn main() {}
