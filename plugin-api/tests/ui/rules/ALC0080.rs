//! ALC0080.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game", pod)]
pub struct Point {}

fn main() {}
