//! ALC0045.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(imported, package = "Game", base = Object)]
pub struct Lamp {}

#[uclass(imported)]
impl Lamp {
    #[ufunction]
    fn shine(&self, this: This<Self>);
}

fn main() {}
