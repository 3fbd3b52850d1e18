//! ALC0092, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {

}

#[uclass(package = "Game", implements(Hears))]
#[derive(Default)]
pub struct Thing {}

fn main() {}
