//! ALC0075, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", allocator: own }

fn main() {}
