//! ALC0164, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game", flags)]
#[repr(u16)]
pub enum Rights {
    Read = 1,
    Last = 256,
}

fn main() {}
