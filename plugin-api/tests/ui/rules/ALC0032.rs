//! ALC0032.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default_subobject, default = 1)]
    speed: Obj<Object>,
}

fn main() {}
