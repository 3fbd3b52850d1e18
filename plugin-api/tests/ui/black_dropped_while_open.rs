//! A value that is open cannot be dropped.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Owner {}

#[uclass]
impl Owner {
    #[ufunction]
    fn own(&self, this: This<Self>) {
        let list = UArray::of([1.0]).expect("a host");
        let open = this.open(&list);
        drop(list);
        open.push(2.0);
    }
}

fn main() {}
