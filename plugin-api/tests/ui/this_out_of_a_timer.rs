//! What a timer, or `with`, is given is of that one step and cannot leave it.
#![forbid(unsafe_code)]

use std::time::Duration;

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Hoarder {}

#[uclass]
impl Hoarder {
    #[ufunction]
    fn hoard(&mut self, this: This<Self>) {
        let mut kept = Vec::new();
        timer::every(this, Duration::ZERO, move |this| kept.push(this));
    }
}

fn main() {}
