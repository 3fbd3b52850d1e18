//! ALC0027, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", blueprint_type)]
#[derive(Default)]
pub struct Thing {}

fn main() {}
