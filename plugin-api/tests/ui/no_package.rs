//! A type belongs to a package.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(base = Object)]
pub struct Homeless {}

fn main() {}
