//! ALC0041.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

pub struct Report;

#[zmethods]
impl Report {
    fn count() -> u32 {
        1
    }
}

fn main() {}
