//! ALC0048.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {
    #[cfg(unix)]
    fn hear(&self);
}

fn main() {}
