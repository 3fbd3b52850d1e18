//! Follows ALC0069, ALC0070, ALC0071, ALC0072, ALC0073, ALC0074, ALC0076, ALC0077 and ALC0212 together, because a program has only one
//! `module!`.
#![allow(unused, reason = "cases are compiled, not called")]
use alcedo_plugin_api::prelude::*;

fn close() {}
fn open() {}

module! {
    name: "my_thing",
    suspend: close,
    resume: open,
    dependencies: [("other", "^1")],
    permissions: [network, c_libraries],
}

fn main() {}
