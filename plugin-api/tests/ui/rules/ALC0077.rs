//! ALC0077.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", dependencies: ["other"] }

fn main() {}
