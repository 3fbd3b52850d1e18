//! ALC0073.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

fn let_go() {}
module! { name: "thing", suspend: let_go }

fn main() {}
