//! ALC0057.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub enum Thing {}

fn main() {}
