//! ALC0190, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", abstract)]
#[derive(Default)]
pub struct Thing {}

fn main() {}
