//! ALC0197, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
#[derive(Default)]
pub struct Size {
    pub height: f64,
}

#[ustruct]
impl Size {
    pub fn size() -> Size {
        Size { height: 1.0 }
    }
}

fn main() {}
