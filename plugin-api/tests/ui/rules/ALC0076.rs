//! ALC0076.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", dependencies: [("the other", "^1")] }

fn main() {}
