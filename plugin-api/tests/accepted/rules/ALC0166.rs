//! ALC0166, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(u8)]
pub enum Mood {
    Calm,
    Angry,
}

fn main() {}
