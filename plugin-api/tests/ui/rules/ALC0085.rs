//! ALC0085.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Words {
    #[keep]
    text: UString,
}

fn main() {}
