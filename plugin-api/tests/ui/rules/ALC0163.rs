//! ALC0163.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(u8)]
pub enum Mood {
    Calm = 1,
    Angry,
}

fn main() {}
