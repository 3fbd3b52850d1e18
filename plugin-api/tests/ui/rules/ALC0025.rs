//! ALC0025.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Game", base = Object)]
pub struct Lamp {
    ticks: u32,
}

#[uclass(imported)]
impl Lamp {

}

fn main() {}
