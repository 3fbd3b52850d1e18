//! ALC0160.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(u8)]
pub enum Mood<T> {
    Calm,
    Angry,
}

fn main() {}
