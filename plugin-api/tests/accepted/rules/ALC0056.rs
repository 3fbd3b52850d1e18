//! ALC0056, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {
    fn hear(&self, what: String) -> u32;
}

#[uclass(package = "Game", implements(Hears))]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Hears for Thing {
    fn hear(&self, what: String) -> u32 {
        1
    }
}

fn main() {}
