//! ALC0162, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game", flags)]
#[repr(u8)]
pub enum Rights {
    Read = 1,
    Look = 2,
}

fn main() {}
