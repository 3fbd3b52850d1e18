//! A red constructor with a `Result`: the host could not do without the plugin part.
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Singer {}

#[uclass]
impl Singer {
    #[red_constructor]
    fn new(_this: This<Self>) -> Result<Self, String> {
        Ok(Self {})
    }
}

fn main() {}
