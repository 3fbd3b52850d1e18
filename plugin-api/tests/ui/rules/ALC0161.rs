//! ALC0161.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(usize)]
pub enum Mood {
    Calm,
    Angry,
}

fn main() {}
