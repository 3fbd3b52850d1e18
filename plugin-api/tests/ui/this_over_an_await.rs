//! `This` is of one call and cannot be held over an `await`: a task outlives the call.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Sleeper {}

#[uclass]
impl Sleeper {
    #[ufunction]
    fn sleep(&mut self, this: This<Self>) {
        task::spawn(this, async move {
            task::next_tick().await;
            let _name = this.name();
        });
    }
}

fn main() {}
