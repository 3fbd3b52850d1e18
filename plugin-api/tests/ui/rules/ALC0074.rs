//! ALC0074.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

fn take_again() {}
module! { name: "thing", resume: take_again }

fn main() {}
