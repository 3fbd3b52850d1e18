//! An attribute below `#[uclass]` changes the plugin part after its fields were looked at: the final type is what counts.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use alcedo_test_attributes::counters_are_shared;

#[uclass(package = "Game")]
#[counters_are_shared]
pub struct Shared {
    counter: u32,
}

fn main() {}
