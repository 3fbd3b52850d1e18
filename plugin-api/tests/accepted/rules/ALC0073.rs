//! ALC0073, kept.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

fn let_go() {}
fn take_again() {}
module! { name: "thing", suspend: let_go, resume: take_again }

fn main() {}
