//! ALC0049.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {
    fn hear(&self, this: This<Self>);
}

fn main() {}
