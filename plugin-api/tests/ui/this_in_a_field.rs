//! `This` cannot be kept in the plugin part.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Hoarder {
    kept: Option<This<'static, Hoarder>>,
}

#[uclass]
impl Hoarder {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        self.kept = Some(this);
    }
}

fn main() {}
