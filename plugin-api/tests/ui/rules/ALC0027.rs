//! ALC0027.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game", blueprintable, blueprint_type)]
#[derive(Default)]
pub struct Thing {}

fn main() {}
