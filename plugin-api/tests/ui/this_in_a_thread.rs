//! `This` cannot go to another thread.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Worker {}

#[uclass]
impl Worker {
    #[ufunction]
    fn work(&mut self, this: This<Self>) {
        std::thread::scope(|scope| {
            scope.spawn(|| this.name());
        });
    }
}

fn main() {}
