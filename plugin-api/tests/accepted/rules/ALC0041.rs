//! ALC0041, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

pub struct Report;

#[zmethods]
impl Report {
    #[zmethod]
    fn count() -> u32 {
        1
    }
}

fn main() {}
