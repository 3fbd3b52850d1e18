//! ALC0030.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(root_component)]
    speed: Obj<Object>,
}

fn main() {}
