//! ALC0071.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

module! {  }

fn main() {}
