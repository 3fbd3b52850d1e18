//! ALC0075.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", allocator: mine }

fn main() {}
