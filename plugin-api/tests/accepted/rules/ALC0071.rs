//! ALC0071, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing" }

fn main() {}
