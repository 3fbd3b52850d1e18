//! ALC0167, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(u8)]
pub enum Mood {
    Calm,
    Angry = 3,
    Furious = 1 << 4,
}

fn main() {}
