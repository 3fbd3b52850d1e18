//! An interface is a name for now.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Hears {
    fn hear(&self, words: String);
}

#[uinterface(package = "Game")]
pub trait Counts {
    const MOST: u32 = 3;
}

fn main() {}
