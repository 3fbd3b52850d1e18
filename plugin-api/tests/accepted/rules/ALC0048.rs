//! ALC0048, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {
    /// Hears.
    fn hear(&self);
}

fn main() {}
