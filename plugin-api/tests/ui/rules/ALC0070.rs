//! ALC0070.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", name: "thing" }

fn main() {}
