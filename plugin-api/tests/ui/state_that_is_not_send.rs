//! The finalizer thread drops the plugin part.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
pub struct Shared {
    counter: std::rc::Rc<u32>,
}

fn main() {}
