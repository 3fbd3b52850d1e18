//! Keeps to ALC0075: a module with an allocator of its own.
#![allow(unused, reason = "cases are compiled, not called")]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", allocator: own }

fn main() {}
