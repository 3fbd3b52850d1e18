//! Nothing, or a result.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "magic_cube", suspend: let_go, resume: take_again }

fn let_go() {}

fn take_again() -> u32 {
    7
}

fn main() {}
