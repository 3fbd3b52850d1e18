//! ALC0078.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game", pod)]
pub struct Point<T> {
    x: T,
}

fn main() {}
