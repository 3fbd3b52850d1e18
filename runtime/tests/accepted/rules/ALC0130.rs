//! ALC0130, kept.
#![allow(unused)]
use alcedo_runtime::native::ustruct;

#[ustruct(package = "Engine", pod)]
pub struct Place {
    pub x: f64,
}

fn main() {}
