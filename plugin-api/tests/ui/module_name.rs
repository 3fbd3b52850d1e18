//! A module has a plain name.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "Magic Cube" }

fn main() {}
