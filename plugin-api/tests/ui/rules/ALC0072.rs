//! ALC0072.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "My Thing" }

fn main() {}
