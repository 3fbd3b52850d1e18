//! An event is declared without a body.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Eager {}

#[uclass]
impl Eager {
    #[ufunction(blueprint_native_event)]
    fn say_hello(&self) {}
}

fn main() {}
