//! A class constructor has no parameters and no result.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Curious {}

#[uclass]
impl Curious {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>, how: u32) {
        let _ = (this, how);
    }
}

fn main() {}
