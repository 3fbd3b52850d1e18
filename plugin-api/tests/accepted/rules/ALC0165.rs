//! ALC0165, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(i8)]
pub enum Depth {
    Here,
    Below = -1,
}

fn main() {}
