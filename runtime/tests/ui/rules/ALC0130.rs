//! ALC0130.
#![allow(unused)]
use alcedo_runtime::native::ustruct;

#[ustruct(package = "Engine")]
pub struct Place {
    pub x: f64,
}

fn main() {}
