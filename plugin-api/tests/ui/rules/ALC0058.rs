//! ALC0058.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub struct Hears;

fn main() {}
