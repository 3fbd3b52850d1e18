//! A class has one class constructor.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Twice {}

#[uclass]
impl Twice {
    #[class_constructor]
    fn first(&mut self) {}

    #[class_constructor]
    fn second(&mut self) {}
}

fn main() {}
