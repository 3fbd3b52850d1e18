//! A view is of one call, and a task outlives it.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Sleeper {
    #[uproperty]
    list: UArray<f64>,
}

#[uclass]
impl Sleeper {
    #[ufunction]
    fn sleep(&mut self, this: This<Self>) {
        let list = this.list();
        task::spawn(this, async move {
            task::next_tick().await;
            list.push(1.0);
        });
    }
}

fn main() {}
