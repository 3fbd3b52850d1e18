//! ALC0032, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default_subobject)]
    speed: Obj<Object>,
}

fn main() {}
