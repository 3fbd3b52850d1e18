//! The default body has the signature of its event.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Confused {}

#[uclass]
impl Confused {
    #[ufunction(blueprint_native_event)]
    fn say(&self, what: String);
    fn say_implementation(&self, what: u32) {
        let _ = what;
    }
}

fn main() {}
