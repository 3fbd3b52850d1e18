//! ALC0194.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
#[derive(Default)]
pub struct Size {
    pub height: f64,
}

#[ustruct]
impl Size {
    #[constructor]
    fn tall(&mut self, height: f64) -> Self {
        Size { height }
    }
}

fn main() {}
