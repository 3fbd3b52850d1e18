//! ALC0069.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! { name: "thing", mian: started }

fn main() {}
