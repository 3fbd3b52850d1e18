//! ALC0028.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Thing(u32);

fn main() {}
