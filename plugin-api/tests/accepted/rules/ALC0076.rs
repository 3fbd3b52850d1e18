//! ALC0076, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", dependencies: [("other", "^1")] }

fn main() {}
