//! A class has one `#[uclass] impl` block.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Split {}

#[uclass]
impl Split {}

#[uclass]
impl Split {}

fn main() {}
