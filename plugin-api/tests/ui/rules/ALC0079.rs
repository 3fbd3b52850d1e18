//! ALC0079.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game", pod)]
pub struct Point(f64);

fn main() {}
