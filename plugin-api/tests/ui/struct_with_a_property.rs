//! Fields of a struct are reflected without saying so.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game")]
pub struct Stats {
    #[uproperty]
    strength: f64,
}

fn main() {}
