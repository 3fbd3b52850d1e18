//! A class has one red constructor.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Twice {}

#[uclass]
impl Twice {
    #[red_constructor]
    fn new() -> Self {
        Self {}
    }

    #[red_constructor]
    fn renew(_this: This<Self>) -> Self {
        Self {}
    }
}

fn main() {}
