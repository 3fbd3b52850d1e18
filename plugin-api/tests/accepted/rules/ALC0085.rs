//! ALC0085, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Words {
    text: UString,
}

fn main() {}
