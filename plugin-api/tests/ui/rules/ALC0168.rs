//! ALC0168.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game")]
#[repr(u8)]
pub struct Mood(u8);

fn main() {}
