//! A class is no interface, and an interface no class.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {}

#[uclass(package = "Game", implements(Object))]
pub struct Ear {}

pub fn anyone(_listener: &ScriptInterface<Ear>, _ear: &WeakObject<Hears>) {}

fn main() {}
