//! A finalizer has no `This`, so no engine.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Chatty {
    count: u32,
}

#[uclass]
impl Chatty {
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        self.count = this.name().len() as u32;
    }
}

impl Drop for Chatty {
    fn drop(&mut self) {
        let name = self.name();
        drop(this.name() + &name);
    }
}

fn main() {}
