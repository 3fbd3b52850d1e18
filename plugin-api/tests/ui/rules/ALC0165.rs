//! ALC0165.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uenum(package = "Game", flags)]
#[repr(i8)]
pub enum Rights {
    Read = 1,
    Least = -1,
}

fn main() {}
