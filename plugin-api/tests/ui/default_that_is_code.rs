//! A default is data.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Odd {
    #[uproperty(default = compute())]
    computed: u8,
}

fn main() {}
