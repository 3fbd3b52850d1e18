//! What is given up has to be taken again when the reload is rolled back.
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "magic_cube", suspend: let_go }

fn let_go() {}

fn main() {}
