//! ALC0010, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[class_constructor]
    fn one(&mut self) {}
}

fn main() {}
