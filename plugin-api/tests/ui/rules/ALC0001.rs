//! ALC0001.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[zmethods]
impl Default for Report {
    fn default() -> Self {
        Self
    }
}
pub struct Report;

fn main() {}
