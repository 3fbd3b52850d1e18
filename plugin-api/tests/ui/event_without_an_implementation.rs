//! An event has a default body.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Lazy {}

#[uclass]
impl Lazy {
    #[ufunction(blueprint_native_event)]
    fn say_hello(&self);
}

fn main() {}
