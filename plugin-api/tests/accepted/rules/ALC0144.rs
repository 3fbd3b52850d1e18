//! ALC0144, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", dll_bind = "Thing")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[dll_import(name = "Ring", no_cwd)]
    fn ring(&self);

    #[ufunction]
    fn twice(&self, this: This<Self>) {
        this.ring();
        this.ring();
    }
}

fn main() {}
