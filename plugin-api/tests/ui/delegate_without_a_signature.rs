//! A delegate says what it takes and gives.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Caller {
    #[uproperty]
    decide: Delegate<bool>,
}

fn main() {}
