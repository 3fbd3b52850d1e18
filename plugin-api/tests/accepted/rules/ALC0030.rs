//! ALC0030, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default_subobject, root_component)]
    speed: Obj<Object>,
}

fn main() {}
