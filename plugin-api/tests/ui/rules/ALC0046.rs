//! ALC0046.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {
    const COUNT: u32;
}

fn main() {}
