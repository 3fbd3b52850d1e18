//! ALC0036, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(package = "Game", pod)]
pub struct Point {
    x: f64,
    y: f64,
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {
    #[uproperty(default = (x = 1.0, y = 2.0))]
    at: Point,
}

fn main() {}
