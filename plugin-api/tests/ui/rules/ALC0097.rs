//! ALC0097.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[uclass()]
#[derive(Default)]
pub struct Thing {}

fn main() {}
