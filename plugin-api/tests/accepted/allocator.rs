//! Follows ALC0075: a module with its own allocator.
#![allow(unused, reason = "cases are compiled, not called")]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", allocator: own }

fn main() {}
