//! ALC0161, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(i64)]
pub enum Mood {
    Calm,
    Angry,
}

fn main() {}
