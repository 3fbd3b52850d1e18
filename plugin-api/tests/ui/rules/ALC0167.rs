//! ALC0167.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

const LAST: u8 = 3;

#[uenum(package = "Game")]
#[repr(u8)]
pub enum Mood {
    Calm,
    Angry = LAST,
}

fn main() {}
