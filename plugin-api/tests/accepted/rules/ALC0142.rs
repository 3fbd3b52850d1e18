//! ALC0142, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Holder {
    #[uproperty]
    thing: Obj<Thing>,
}

fn main() {}
