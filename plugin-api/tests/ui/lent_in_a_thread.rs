//! A view cannot go to another thread: a `clone()` of the value can.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Worker {
    #[uproperty]
    list: UArray<f64>,
}

#[uclass]
impl Worker {
    #[ufunction]
    fn work(&mut self, this: This<Self>) {
        let list = this.list();
        std::thread::scope(|scope| {
            scope.spawn(|| list.len());
        });
    }
}

fn main() {}
