//! ALC0072, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "my_thing" }

fn main() {}
